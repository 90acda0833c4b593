/** Form in a drawer, described by fields. Creates an object or changes the changed fields of one. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Row } from '../api.ts';
import { text } from '../api.ts';
import { useAction } from '../hooks.ts';
import { t } from '../text.ts';
import { typedNumber } from '../typed-number.ts';
import { Check, Input, type Options, Select, TextArea } from './form.tsx';
import { FormDrawer } from './overlay.tsx';
import { Snippets } from './snippets.tsx';
import { toast } from './toast.tsx';

export interface FieldSpec {
  /** Name in the request. `auth.username` is a member of an object. */
  readonly name: string;
  readonly label: string;
  readonly kind?:
    | 'text'
    | 'url'
    | 'email'
    | 'password'
    | 'number'
    | 'flag'
    | 'select'
    | 'area'
    | 'code'
    | 'list'
    | 'date'
    | 'time'
    | 'datetime-local';
  readonly hint?: string;
  readonly options?: Options;
  readonly required?: boolean;
  /** Initial value of a new object. */
  readonly initial?: string;
  /** True: an empty field of an existing object is sent as null. Otherwise as an empty text. */
  readonly isNullable?: boolean;
  /** Whether the field can be changed after the creation. Default: true. */
  readonly isFixed?: boolean;
  /** Heading of the group that starts with this field. */
  readonly group?: string;
  /** Shown only while this holds. */
  readonly when?: (values: Values) => boolean;
}

export type Values = Readonly<Record<string, string>>;
type Body = Record<string, unknown>;

const readPath = (row: Row, name: string): unknown =>
  name.split('.').reduce<unknown>((at, one) => (at as Row | undefined | null)?.[one], row);

function asText(value: unknown): string {
  if (Array.isArray(value)) return value.map(text).join('\n');
  return typeof value === 'object' && value !== null ? JSON.stringify(value, null, 2) : text(value);
}

const initialOf = (fields: readonly FieldSpec[], row: Row | undefined): Values =>
  Object.fromEntries(
    fields.map(({ name, initial = '' }) => [
      name,
      row === undefined ? initial : asText(readPath(row, name)),
    ]),
  );

function sentOf({ kind, isNullable }: FieldSpec, value: string, isNew: boolean): unknown {
  if (kind === 'flag') return value === 'true';
  if (kind === 'list')
    return value
      .split(/[\n,]+/)
      .map((one) => one.trim())
      .filter((one) => one !== '');
  if (value === '') return isNew ? undefined : isNullable || kind === 'number' ? null : '';
  if (kind === 'number') return typedNumber(value);
  if (kind === 'datetime-local') return new Date(value).toISOString();
  return value;
}

/** Builds the request body: all used fields of a new object, changed fields of an existing one. */
function bodyOf(
  fields: readonly FieldSpec[],
  values: Values,
  row: Row | undefined,
): Record<string, unknown> {
  const before = initialOf(fields, row);
  const body: Record<string, unknown> = {};
  for (const field of fields) {
    const value = values[field.name] ?? '';
    if (field.when?.(values) === false) continue;
    if (row !== undefined && (field.isFixed || value === before[field.name])) continue;
    const sent = sentOf(field, value, row === undefined);
    if (sent === undefined || (Array.isArray(sent) && sent.length === 0 && row === undefined))
      continue;
    const names = field.name.split('.');
    const last = names.pop() ?? '';
    let at = body;
    for (const one of names) {
      at[one] ??= {};
      at = at[one] as Record<string, unknown>;
    }
    at[last] = sent;
  }
  return body;
}

interface Props {
  readonly isOpen: boolean;
  readonly close: () => void;
  /** Existing object, or undefined for a new one. */
  readonly row: Row | undefined;
  readonly fields: readonly FieldSpec[];
  /** Name of the object in titles and buttons, for example "carrier". */
  readonly noun: string;
  readonly save: (body: object, row: Row | undefined) => Promise<unknown>;
  /** Method and path of the request, for the code examples. */
  readonly request?: (row: Row | undefined) => { readonly method: string; readonly path: string };
  readonly done: () => void;
  readonly children?: ComponentChildren;
  readonly initial?: Values;
  /** Changes the body before it is sent and shown as code. */
  readonly prepare?: ((body: Body, row: Row | undefined) => object) | undefined;
  /** Title of the form and of its button. Default: Create or Save, and the noun. */
  readonly title?: string | undefined;
  /** Message after the success. Default: Created or Saved, and the noun. */
  readonly doneText?: string | undefined;
}

export function Editor(props: Props) {
  const { isOpen, close, fields, noun, save, request, done, children } = props;
  // The object as it was when the form opened: pages load their data again while the user types.
  const opened = useRef<Pick<Props, 'row'>>(undefined);
  opened.current = isOpen ? (opened.current ?? { row: props.row }) : undefined;
  const { row } = opened.current ?? props;
  const [values, setValues] = useState<Values>({});
  const { problem, fields: problems, isBusy, run } = useAction();
  useEffect(() => {
    if (isOpen) setValues({ ...initialOf(fields, row), ...props.initial });
  }, [isOpen]);
  const isNew = row === undefined;
  const submit = props.title ?? (isNew ? t('Create {noun}', { noun }) : t('Save {noun}', { noun }));
  const entered = bodyOf(fields, values, row);
  const body = props.prepare?.(entered, row) ?? entered;
  const act = async () => {
    const isDone = await run(() => save(body, row));
    if (!isDone) return;
    toast(
      props.doneText ?? (isNew ? t('Created {noun}.', { noun }) : t('Saved {noun}.', { noun })),
    );
    close();
    done();
  };
  const others = Object.keys(problems).some(
    (name) => !fields.some((field) => isWithin(name, field.name)),
  );
  const shown =
    Object.keys(problems).length > 0 && !others ? t('Correct the marked fields.') : problem;
  return (
    <FormDrawer
      title={props.title ?? (isNew ? submit : t('Edit {noun}', { noun }))}
      isOpen={isOpen}
      close={close}
      submit={submit}
      act={() => void act()}
      problem={shown}
      isBusy={isBusy}
    >
      {fields
        .filter((field) => (isNew || field.isFixed !== true) && field.when?.(values) !== false)
        .map((field) => (
          <FieldOf
            key={field.name}
            field={field}
            value={values[field.name] ?? ''}
            problem={problemOf(problems, field.name)}
            set={(value) => setValues((before) => ({ ...before, [field.name]: value }))}
          />
        ))}
      {children}
      {request && <Snippets request={{ ...request(row), body }} />}
    </FormDrawer>
  );
}

/** Whether `name` is the field or a part of its value, such as `agent.model.url` of `agent`. */
const isWithin = (name: string, field: string): boolean =>
  name === field || name.startsWith(`${field}.`) || name.startsWith(`${field}[`);

/** Problems of a field. Those of parts of its value begin with the part. */
function problemOf(problems: Readonly<Record<string, string>>, field: string): string | undefined {
  const own = Object.entries(problems).filter(([name]) => isWithin(name, field));
  if (own.length === 0) return undefined;
  return own
    .map(([name, problem]) =>
      name === field ? problem : `${name.slice(field.length).replace(/^\./, '')} ${problem}`,
    )
    .join('; ');
}

interface FieldProps {
  readonly field: FieldSpec;
  readonly value: string;
  readonly set: (value: string) => void;
  readonly problem: string | undefined;
}

function FieldOf({ field, value, set, problem }: FieldProps) {
  const { kind = 'text', label, hint, options = [], required = false, group } = field;
  const common = { label, hint, value, set, problem, required };
  const control =
    kind === 'flag' ? (
      <Check
        label={label}
        {...(hint !== undefined && { hint })}
        isOn={value === 'true'}
        set={(isOn) => set(String(isOn))}
      />
    ) : kind === 'select' ? (
      <Select {...common} options={options} />
    ) : kind === 'area' || kind === 'list' || kind === 'code' ? (
      <TextArea {...common} rows={kind === 'code' ? 8 : 3} isCode={kind === 'code'} />
    ) : (
      <Input
        {...common}
        type={kind === 'number' ? 'text' : kind}
        autocomplete={kind === 'password' ? 'new-password' : 'off'}
        {...(options.length > 0 && { list: options.map(([one]) => one) })}
      />
    );
  return group === undefined ? (
    control
  ) : (
    <>
      <h3>{group}</h3>
      {control}
    </>
  );
}
