"""What calibration raises where no answer exists."""


class CalibrationError(ValueError):
    """No mechanism of the kind asked for can meet the target; the message says why."""
