/** Visible texts. The English text is the key; `strings.json` lists all keys for translation. */

let translations: Readonly<Record<string, string>> = {};

/** Sets the texts of another language, by their English key. */
export const translate = (next: Readonly<Record<string, string>>): void => {
  translations = next;
};

/** Returns the text in the language of the page. `{name}` is replaced by `values.name`. */
export function t(key: string, values: Readonly<Record<string, string | number>> = {}): string {
  const found = translations[key] ?? key;
  return found.replace(/\{(\w+)\}/g, (whole, name: string) =>
    name in values ? String(values[name]) : whole,
  );
}
