/** Shared components of pages. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { HEADERS, type Row, text } from './api.ts';
import { useAction } from './hooks.ts';
import { may, type Need } from './may.ts';

export const Problem = ({ text: told }: { readonly text: string | undefined }) =>
  told === undefined ? null : (
    <p class="problem" role="alert">
      {told}
    </p>
  );

/** The page for an address or an ID that does not exist. */
export const NotFound = () => (
  <>
    <h1>404: Page not found</h1>
    <p>
      This page or ID does not exist. Go to <a href="#/calls">Calls</a>.
    </p>
  </>
);

export interface Column {
  readonly title: string;
  readonly value: (row: Row) => ComponentChildren;
  readonly isNumber?: boolean;
  readonly isMinor?: boolean;
  /** Permission required to see the column. */
  readonly need?: Need;
}

/** Column with a button that opens the row in the form. */
export const changeColumn = (edit: (row: Row) => void, need: Need = 'change'): Column => ({
  title: 'Change',
  need,
  value: (row) => (
    <button type="button" class="small secondary" onClick={() => edit(row)}>
      Change
    </button>
  ),
});

/** Column with a button that removes the item of the row after a confirmation. */
export const removeColumn = (
  nameOf: (row: Row) => string,
  remove: (row: Row) => Promise<void>,
  need: Need = 'change',
): Column => ({
  title: 'Remove',
  need,
  value: (row) => (
    <button
      type="button"
      class="small secondary"
      aria-label={`Remove ${nameOf(row)}`}
      onClick={() => confirm(`Remove ${nameOf(row)}?`) && void remove(row)}
    >
      Remove
    </button>
  ),
});

interface TableProps {
  readonly name: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[] | undefined;
  readonly empty: string;
}

const classOf = ({ isNumber, isMinor }: Column): string =>
  `${isNumber ? 'num' : ''} ${isMinor ? 'hide-small' : ''}`;

export function Table({ name, columns: all, rows, empty }: TableProps) {
  const columns = all.filter(({ need }) => need === undefined || may(need));
  if (rows === undefined) return <p aria-busy="true">Loading …</p>;
  if (rows.length === 0) return <p>{empty}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be reachable by keyboard
    <section class="wide" aria-label={name} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" class={classOf(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={text(row['uuid'] ?? row['call_uuid'] ?? row['id'] ?? at)}>
              {columns.map((column) => (
                <td key={column.title} class={classOf(column)}>
                  {column.value(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Width of drawings in SVG units. */
export const DRAWING_WIDTH = 760;

interface DrawingProps {
  readonly name: string;
  /** Text alternative for screen readers. */
  readonly label: string;
  readonly height: number;
  readonly children: ComponentChildren;
}

/** A drawing that scrolls instead of shrinking below a readable size. */
export const Drawing = ({ name, label, height, children }: DrawingProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be reachable by keyboard
  <section class="wide" aria-label={name} tabIndex={0}>
    <svg class="drawing" viewBox={`0 0 ${DRAWING_WIDTH} ${height}`} role="img" aria-label={label}>
      {children}
    </svg>
  </section>
);

export const Tiles = ({
  of,
}: {
  readonly of: ReadonlyArray<readonly [string, ComponentChildren]>;
}) => (
  <dl class="tiles">
    {of.map(([name, value]) => (
      <div class="tile" key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);

export const State = ({
  good,
  children,
}: {
  readonly good: boolean | undefined;
  readonly children: ComponentChildren;
}) => (
  <span class={`state ${good === undefined ? 'fair' : good ? 'good' : 'bad'}`}>{children}</span>
);

/** A time in the time zone of the browser. */
export function At({ value }: { readonly value: unknown }) {
  const moment = new Date(text(value));
  if (Number.isNaN(moment.getTime())) return null;
  return (
    <time dateTime={text(value)}>
      {moment.toLocaleString(undefined, { dateStyle: 'short', timeStyle: 'medium' })}
    </time>
  );
}

export const clock = (seconds: number): string => {
  const whole = Math.max(0, Math.floor(seconds));
  const minutes = Math.floor(whole / 60);
  return `${minutes}:${String(whole % 60).padStart(2, '0')}`;
};

/** Callbacks of one shared timer, so that only elapsed times are redrawn each second, not whole lists. */
const counting = new Set<() => void>();
setInterval(() => {
  for (const count of counting) count();
}, 1000);

/** Seconds since a time, updated every second. */
export function Since({ value }: { readonly value: unknown }) {
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const from = Date.parse(text(value));
    const count = () => {
      if (place.current !== null && !Number.isNaN(from)) {
        place.current.textContent = clock((Date.now() - from) / 1000);
      }
    };
    count();
    counting.add(count);
    return () => counting.delete(count);
  }, [value]);
  return <span ref={place} />;
}

export const money = (value: unknown, currency: unknown): string => {
  if (typeof value !== 'number') return '';
  const shown = value.toLocaleString(undefined, {
    minimumFractionDigits: 2,
    maximumFractionDigits: 6,
  });
  return `${shown} ${text(currency)}`;
};

export function Mos({ value }: { readonly value: unknown }) {
  if (typeof value !== 'number') return null;
  return (
    <State good={value >= 4 ? true : value >= 3.4 ? undefined : false}>{value.toFixed(2)}</State>
  );
}

interface InputProps {
  readonly label: string;
  readonly value: string;
  readonly set: (value: string) => void;
  readonly type?: 'text' | 'email' | 'password' | 'url' | 'date';
  readonly required?: boolean;
  readonly wider?: boolean;
  readonly autocomplete?: string;
}

export const Input = ({
  label,
  value,
  set,
  type = 'text',
  required = false,
  wider,
  autocomplete,
}: InputProps) => (
  <label class={wider ? 'wider' : ''}>
    {label}
    <input
      {...({ type } as { readonly type: 'text' })}
      value={value}
      required={required}
      autocomplete={autocomplete ?? 'off'}
      onInput={({ currentTarget }) => set(currentTarget.value)}
    />
  </label>
);

interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly set: (value: string) => void;
  readonly options: ReadonlyArray<readonly [value: string, text: string]>;
}

export const Select = ({ label, value, set, options }: SelectProps) => (
  <label>
    {label}
    <select value={value} onChange={({ currentTarget }) => set(currentTarget.value)}>
      {options.map(([one, shown]) => (
        <option key={one} value={one}>
          {shown}
        </option>
      ))}
    </select>
  </label>
);

export const onSubmit = (act: () => void) => (event: Event) => {
  event.preventDefault();
  act();
};

interface SaveProps {
  readonly path: string;
  readonly name: string;
  readonly children: ComponentChildren;
}

/** Button that downloads the response of a route as a file. */
export function Save({ path, name, children }: SaveProps) {
  const { problem, run } = useAction();
  const [isBusy, setBusy] = useState(false);
  const save = () =>
    run(async () => {
      const reply = await fetch(path, { headers: HEADERS });
      if (!reply.ok) throw new Error(`Download failed (${reply.status}).`);
      const link = document.createElement('a');
      link.href = URL.createObjectURL(await reply.blob());
      link.download = name;
      link.click();
      URL.revokeObjectURL(link.href);
    });
  const begin = () => {
    setBusy(true);
    void save().finally(() => setBusy(false));
  };
  return (
    <>
      <button type="button" class="small secondary" aria-busy={isBusy} onClick={begin}>
        {children}
      </button>
      <Problem text={problem} />
    </>
  );
}
