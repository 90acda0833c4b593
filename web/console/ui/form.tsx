/** Form controls. Each shows the problem that the service reports for its field. */
import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { messageOf, Refused, send } from '../api.ts';
import { t } from '../text.ts';
import { toast } from './toast.tsx';

interface Common {
  readonly label: string;
  readonly value: string;
  readonly set: (value: string) => void;
  readonly hint?: string | undefined;
  /** Problem of this field. */
  readonly problem?: string | undefined;
  readonly required?: boolean;
  readonly wider?: boolean | undefined;
}

interface ShellProps extends Pick<Common, 'label' | 'hint' | 'problem' | 'wider'> {
  readonly id: string;
  readonly children: ComponentChildren;
}

const Shell = ({ id, label, hint, problem, wider, children }: ShellProps) => (
  <div class={`field ${wider ? 'wider' : ''}`}>
    <label for={id}>{label}</label>
    {children}
    {problem !== undefined && (
      <span class="error" id={`${id}-error`}>
        {problem}
      </span>
    )}
    {hint !== undefined && (
      <span class="hint" id={`${id}-hint`}>
        {hint}
      </span>
    )}
  </div>
);

const described = (id: string, { hint, problem }: Pick<Common, 'hint' | 'problem'>) => {
  const by = [problem !== undefined && `${id}-error`, hint !== undefined && `${id}-hint`];
  const told = by.filter(Boolean).join(' ');
  return {
    ...(told !== '' && { 'aria-describedby': told }),
    ...(problem !== undefined && { 'aria-invalid': true }),
  };
};

interface InputProps extends Common {
  readonly type?:
    | 'text'
    | 'email'
    | 'password'
    | 'url'
    | 'date'
    | 'time'
    | 'datetime-local'
    | 'number'
    | 'search'
    | 'tel';
  readonly autocomplete?: string;
  readonly placeholder?: string;
  readonly list?: readonly string[];
}

export function Input(props: InputProps) {
  const id = useId();
  const { label, value, set, type = 'text', required, autocomplete = 'off', placeholder } = props;
  const { list } = props;
  return (
    <Shell id={id} label={label} hint={props.hint} problem={props.problem} wider={props.wider}>
      <input
        id={id}
        class="input"
        {...({ type } as { readonly type: 'text' })}
        value={value}
        required={required}
        autocomplete={autocomplete as 'off'}
        placeholder={placeholder}
        {...(list && { list: `${id}-list` })}
        {...described(id, props)}
        onInput={({ currentTarget }) => set(currentTarget.value)}
      />
      {list && (
        <datalist id={`${id}-list`}>
          {list.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </Shell>
  );
}

export function TextArea(props: Common & { readonly isCode?: boolean; readonly rows?: number }) {
  const id = useId();
  return (
    <Shell {...props} id={id}>
      <textarea
        id={id}
        class={`input ${props.isCode ? 'code' : ''}`}
        value={props.value}
        required={props.required}
        rows={props.rows ?? 5}
        spellcheck={!props.isCode}
        {...described(id, props)}
        onInput={({ currentTarget }) => props.set(currentTarget.value)}
      />
    </Shell>
  );
}

export type Options = ReadonlyArray<readonly [value: string, text: string]>;

export const optionsOf = (values: readonly string[]): Options =>
  values.map((one) => [one, one] as const);

/** A value that is not among the options, because their list is incomplete or has changed, stays selected. */
export function Select(props: Common & { readonly options: Options }) {
  const id = useId();
  const { value, set } = props;
  const isKnown = value === '' || props.options.some(([one]) => one === value);
  const options = isKnown ? props.options : [...props.options, [value, value] as const];
  return (
    <Shell {...props} id={id}>
      <select
        id={id}
        class="input"
        value={value}
        required={props.required}
        {...described(id, props)}
        onChange={({ currentTarget }) => set(currentTarget.value)}
      >
        {options.map(([one, shown]) => (
          <option key={one} value={one}>
            {shown}
          </option>
        ))}
      </select>
    </Shell>
  );
}

interface CheckProps {
  readonly label: string;
  readonly isOn: boolean;
  readonly set: (isOn: boolean) => void;
  readonly hint?: string;
}

export const Check = ({ label, isOn, set, hint }: CheckProps) => (
  <label class="check">
    <input
      type="checkbox"
      checked={isOn}
      onChange={({ currentTarget }) => set(currentTarget.checked)}
    />
    <span>
      {label}
      {hint !== undefined && <span class="hint">{hint}</span>}
    </span>
  </label>
);

export const onSubmit = (act: () => void) => (event: Event) => {
  event.preventDefault();
  act();
};

/** Downloads the response of a route as a file. */
async function download(path: string, name: string): Promise<void> {
  const reply = await send(path);
  if (!reply.ok) throw new Refused(reply.status, `Download failed (${reply.status}).`);
  saveAs(await reply.blob(), name);
}

/** Stores data as a file of the browser. */
export function saveAs(data: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(data);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

interface SaveProps {
  readonly path: string;
  readonly name: string;
  readonly children: ComponentChildren;
}

/** Button that downloads the response of a route as a file. */
export function Save({ path, name, children }: SaveProps) {
  const [isBusy, setBusy] = useState(false);
  const begin = () => {
    setBusy(true);
    download(path, name)
      .catch((error: unknown) => toast(messageOf(error), 'bad'))
      .finally(() => setBusy(false));
  };
  return (
    <button type="button" class="btn" aria-busy={isBusy} title={t('Download')} onClick={begin}>
      {children}
    </button>
  );
}
