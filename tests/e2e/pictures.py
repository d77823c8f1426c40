"""Pictures of a terminal in docs/pictures: each is an SVG made of what its commands print, with the commands in
<desc>."""
import dataclasses
import html
import re

CHARACTER, LINE, MARGIN = 8.4, 18, 14  # in the picture's pixels
INK, PAPER = "#d8dee9", "#1d2129"
COLOURS = {31: "#f07178", 32: "#a5d67a", 33: "#f2c668", 34: "#7aa8f0", 35: "#c99cf0", 36: "#74cbd8", 90: "#8f99ab"}
ESCAPE = re.compile(r"\x1b\[([0-9;]*)([A-Za-z])")


@dataclasses.dataclass
class Style:
    colour: str = INK
    bold: bool = False

    def after(self, codes):
        """The style after an escape sequence `ESC [ codes m`."""
        style = dataclasses.replace(self)
        for code in (int(code or 0) for code in codes.split(";")):
            if code in (0, 39):
                style.colour = INK
            if code in (0, 22):
                style.bold = False
            if code == 1:
                style.bold = True
            if code == 2:
                style.colour = COLOURS[90]
            style.colour = COLOURS.get(code, style.colour)
        return style


def parts(line, style):
    """[(text, style)] of a line with escape sequences, and the style behind it."""
    out, at = [], 0
    for found in ESCAPE.finditer(line):
        out.append((line[at:found.start()], style))
        at = found.end()
        if found[2] == "m":
            style = style.after(found[1])
    return [(text, how) for text, how in [*out, (line[at:], style)] if text], style


def spans(line_parts):
    """SVG of one line. Each part has its place in columns, so that the picture does not depend on the reader's font."""
    column, out = 0, []
    for text, style in line_parts:
        weight = ' font-weight="bold"' if style.bold else ""
        width = f'textLength="{len(text) * CHARACTER:.1f}"'
        out.append(f'<tspan x="{MARGIN + column * CHARACTER:.1f}" fill="{style.colour}"{weight} '
                   f'{width}>{html.escape(text)}</tspan>')
        column += len(text)
    return "".join(out)


def svg(commands, lines, columns=80):
    """A terminal that shows the lines, which may have colours."""
    width, height = MARGIN * 2 + columns * CHARACTER, MARGIN * 2 + len(lines) * LINE
    style, rows = Style(), []
    for number, line in enumerate(lines):
        line_parts, style = parts(line, style)
        if line_parts:
            rows.append(f'<text y="{MARGIN + (number + 0.75) * LINE:.1f}">{spans(line_parts)}</text>')
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}">',
        f"<desc>{html.escape(chr(10).join(commands))}</desc>",
        f'<rect width="100%" height="100%" rx="8" fill="{PAPER}"/>',
        '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, \'DejaVu Sans Mono\', monospace" '
        'font-size="14" xml:space="preserve">',
        *rows, "</g>", "</svg>", ""])


def shown(command, output):
    """The lines of a command and of its output. A command may end with `  # N`: only N lines of its output are
    shown."""
    command, _, most = command.partition("  # ")
    gap = [""] if output else []
    return [f"\x1b[32m$\x1b[0m \x1b[1m{command}\x1b[0m", *output.splitlines()[:int(most or 1000)], *gap]


def commands_of(picture):
    return html.unescape(re.search(r"<desc>(.*?)</desc>", picture, re.S)[1]).split("\n")


def text_of(picture):
    """What the picture shows, as text."""
    rows = re.findall(r"<text .*?</text>", picture)
    return "\n".join(html.unescape("".join(re.findall(r">([^<]*)</tspan>", row))) for row in rows)
