// Decides how data that a measurement leaves is written: so that a change of one record is a change of one line.

/** Returns VALUE as JSON text. Each record of a list has one line; what holds a list of records is opened. */
export function recordLines(value) {
  return `${text(value, '')}\n`;
}

function isObject(value) {
  return typeof value === 'object' && value !== null;
}

function holdsRecords(value) {
  if (!isObject(value)) return false;
  return Array.isArray(value) ? value.some(isObject) : Object.values(value).some(holdsRecords);
}

function text(value, indent) {
  if (!holdsRecords(value)) return JSON.stringify(value);
  const inner = `${indent}  `;
  const list = Array.isArray(value);
  const parts = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .map(([key, each]) => `${inner}${list ? '' : `${JSON.stringify(key)}: `}${text(each, inner)}`);
  return [list ? '[' : '{', parts.join(',\n'), `${indent}${list ? ']' : '}'}`].join('\n');
}
