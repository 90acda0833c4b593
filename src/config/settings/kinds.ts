/** Kinds of settings and their constructors. */

interface Described<T> {
  readonly default: T;
  readonly about: string;
  /** Secret values are never printed. */
  readonly secret?: true;
  /** Applied by a running service on SIGHUP. All other settings need a restart. */
  readonly live?: true;
}
/** Constraint on a text or a list item. An empty text is always valid if it is the default. */
export interface Form {
  /** Description that completes "must be …". */
  readonly expected: string;
  fits(text: string): boolean;
  /** Returns the key for detecting duplicate list items. Default: the whole item. */
  sameAs?(text: string): string;
  /** Whether line breaks are allowed. */
  readonly lines?: true;
}

export interface TextSetting extends Described<string> {
  readonly kind: 'text';
  readonly oneOf?: readonly string[];
  readonly form?: Form;
}
export interface IntegerSetting extends Described<number> {
  readonly kind: 'integer';
  readonly min: number;
  readonly max: number;
}
export interface SwitchSetting extends Described<boolean> {
  readonly kind: 'switch';
}
export interface ListSetting extends Described<readonly string[]> {
  readonly kind: 'list';
  /** Form of each item. */
  readonly form?: Form;
}
/** Path of a file, or the rows inline in the settings file. */
export interface RowsSetting extends Described<string | readonly unknown[]> {
  readonly kind: 'rows';
}
export type Setting = TextSetting | IntegerSetting | SwitchSetting | ListSetting | RowsSetting;

export const text = (initial: string, about: string): TextSetting => ({
  kind: 'text',
  default: initial,
  about,
});
export const secret = (about: string): TextSetting => ({
  kind: 'text',
  default: '',
  about,
  secret: true,
});
export const choice = <const C extends string>(
  oneOf: readonly C[],
  initial: C,
  about: string,
): TextSetting & { readonly default: C; readonly oneOf: readonly C[] } => ({
  kind: 'text',
  oneOf,
  default: initial,
  about,
});
export const integer = (
  initial: number,
  min: number,
  max: number,
  about: string,
): IntegerSetting => ({
  kind: 'integer',
  default: initial,
  min,
  max,
  about,
});
export const toggle = (initial: boolean, about: string): SwitchSetting => ({
  kind: 'switch',
  default: initial,
  about,
});
export const list = (initial: readonly string[], about: string): ListSetting => ({
  kind: 'list',
  default: initial,
  about,
});
/** Returns the setting with a form for its values. */
export const shaped = <S extends TextSetting | ListSetting>(form: Form, setting: S): S => ({
  ...setting,
  form,
});
export const live = <S extends object>(setting: S): S & { readonly live: true } => ({
  ...setting,
  live: true,
});
export const rows = (about: string): RowsSetting => ({
  kind: 'rows',
  default: '',
  about,
  live: true,
});

export const isSetting = (node: object): node is Setting =>
  'kind' in node && 'default' in node && 'about' in node;
