"""HTML as a browser reads it."""

from html.parser import HTMLParser

TEXTS = ("td", "th", "li", "p", "summary", "caption")


class Page(HTMLParser):
    """Names of tags, texts, the attributes of scripts, and what a browser would run or load besides."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.scripts: list[dict[str, str | None]] = []
        self.suspicious: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        self.tags.append(tag)
        if tag in TEXTS:
            self.texts.append("")
        if tag == "script":
            self.scripts.append(given)
        names = [
            name
            for name in given
            if name.startswith("on") or name in ("style", "src", "srcset", "srcdoc", "action")
        ]
        links = [
            given["href"] or ""
            for name in given
            if name == "href" and not (given["href"] or "").startswith("#")
        ]
        if names or links or tag in ("img", "iframe", "object", "embed", "link", "base"):
            self.suspicious.append(f"{tag} {given}")

    def handle_data(self, data: str) -> None:
        self.texts.append(self.texts.pop() + data if self.texts else data)
