/** Visible texts. The English text is the key; `strings.json` lists all keys for translation. */

/** Texts in another language by their English key: the content of a translated `strings.json`. */
const translations: Readonly<Record<string, string>> = {};

/** Returns the text in the language of the page. `{name}` is replaced by `values.name`. */
export function t(key: string, values: Readonly<Record<string, string | number>> = {}): string {
  const found = translations[key] ?? key;
  return found.replace(/\{(\w+)\}/g, (whole, name: string) =>
    name in values ? String(values[name]) : whole,
  );
}
