/** Values as JSON in the text of a statement. It reads the same whatever standard_conforming_strings is set to. */

export function jsonLiteral(value: unknown): string {
  const text = JSON.stringify(value);
  return `E'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'::jsonb`;
}
