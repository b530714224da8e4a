"""What every table of `reproduce` keeps to."""


def expected_cells(table, within=1.0):
    """Return the cells of which something is known, after a check of the whole table.

    Ours are `within` so many units of the last digit: half of one where all digits are right.
    """
    assert table.disagreements == []
    assert max(map(len, table.text().splitlines())) <= 120
    known = [cell for row in table.rows for cell in row.cells if cell.difference is not None]
    assert all(abs(cell.difference) * 10**cell.decimals <= within for cell in known)
    return known
