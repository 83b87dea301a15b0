#include "script/value.h"

const char *value_what(const struct value *value)
{
    switch (value->kind) {
    case VALUE_ABSENT:
        return "nil";
    case VALUE_TEXT:
        return "string";
    case VALUE_NUMBER:
        return "number";
    case VALUE_FLAG:
        return "boolean";
    case VALUE_TABLE:
        return "table";
    case VALUE_PLANNED:
        return "what a table of the plan makes";
    case VALUE_OTHER:
        return value->text.data;
    }
    return "?";
}
