"""The report: one HTML page with the verdict, its pictures, and every query behind it; it opens without a network."""

from ir_outcomes.showing.report.page import ReportPage, report, report_of

__all__ = ["ReportPage", "report", "report_of"]
