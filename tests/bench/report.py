"""The figures as aligned text or as Markdown."""
import dataclasses


@dataclasses.dataclass
class Table:
    columns: list
    rows: list
    notes: list


def nanoseconds(seconds):
    value = seconds * 1e9
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def ratio(value):
    return f"{value:,.4f}" if value < 0.01 else f"{value:,.2f}" if value < 100 else f"{value:,.0f}"


def goal(relation, limit, value, unit, digits=2):
    met = value <= limit if relation == "<=" else value >= limit
    return f"{relation} {limit:.{digits}f} {unit}".rstrip() + (", met" if met else ", MISSED")


def aligned(table):
    widths = [max(len(row[i]) for row in [table.columns, *table.rows]) for i in range(len(table.columns))]

    def one(row):
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:-1])), row[-1]]
        return "  ".join(cells).rstrip()
    return "\n".join([one(table.columns), "  ".join("-" * width for width in widths), *map(one, table.rows)])


def markdown(table):
    heads = [column or " " for column in table.columns]
    rules = ["---", *["---:"] * (len(heads) - 2), "---"]
    return "\n".join("| " + " | ".join(row) + " |" for row in [heads, rules, *table.rows])


def text(sections, loads, as_markdown):
    parts = []
    for table in (table for section in sections for table in section if table.rows):
        parts.append((markdown if as_markdown else aligned)(table))
        if table.notes:
            parts.append("\n".join(table.notes))
    parts.append("Load average at the start and at the end: " + ", ".join(f"{load:.1f}" for load in loads))
    return "\n\n".join(parts)
