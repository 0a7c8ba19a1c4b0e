"""Names of columns and levels that try to be markup, scripts, formulas or templates."""

HOSTILE = {
    "age": '<script>alert("age")</script>',
    "lab": "=HYPERLINK(\"x\")&'lab'",
    "stage": "stage 🫀 $x$ {{ 7*7 }}",
    "noise": "<img src=x onerror=alert(1)>" + "long " * 20,
}
LEVELS = {"II": "<b>II</b>", "III": "javascript:alert(3)"}
