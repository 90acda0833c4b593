/** Kinds of settings, and what makes one of each. */

interface Described<T> {
  readonly default: T;
  readonly about: string;
  /** Never printed. */
  readonly secret?: true;
  /** Taken over by a running service on SIGHUP; everything else needs a restart. */
  readonly live?: true;
}
/** What a text, or an item of a list, must look like. An empty text is always allowed where it is the default. */
export interface Form {
  /** Completes "must be …". */
  readonly expected: string;
  fits(text: string): boolean;
  /** Two items of a list with the same result are duplicates. Default: the whole item. */
  sameAs?(text: string): string;
  /** Line breaks are allowed. */
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
  /** Of each item. */
  readonly form?: Form;
}
/** The path of a file, or in the settings file the rows themselves. */
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
/** The setting, whose values must have this form. */
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
