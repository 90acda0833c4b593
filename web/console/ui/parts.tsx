/** Small components of all pages. */
import { Tooltip, TooltipAnchor, TooltipProvider } from '@ariakit/react';
import { Check, Copy } from 'lucide';
import type { ComponentChildren } from 'preact';
import { createPortal } from 'preact/compat';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Row, text } from '../api.ts';
import { ago, clock, count, dateTime, party } from '../format.ts';
import { href } from '../place.ts';
import { t } from '../text.ts';
import { useCopy } from './copy.ts';
import { Icon } from './icon.tsx';

export type Tone = 'good' | 'fair' | 'bad' | 'info' | 'none';

export const Badge = ({
  tone = 'none',
  children,
}: {
  readonly tone?: Tone;
  readonly children: ComponentChildren;
}) => <span class={`badge ${tone}`}>{children}</span>;

export const Problem = ({ text: told }: { readonly text: string | undefined }) =>
  told === undefined ? null : (
    <div class="callout bad" role="alert">
      {told}
    </div>
  );

/** Error of a page's data with a button that loads it again. */
export const LoadProblem = ({
  of,
}: {
  readonly of: { readonly problem: string | undefined; readonly again: () => void };
}) =>
  of.problem === undefined ? null : (
    <div class="callout bad" role="alert">
      <div class="row between">
        <span>{of.problem}</span>
        <button type="button" class="btn tiny" onClick={of.again}>
          {t('Try again')}
        </button>
      </div>
    </div>
  );

interface CutProps {
  readonly name: string;
  /** Maximum number of rows that the page shows. */
  readonly most: number;
  readonly total: number | undefined;
}

/** Tells that a list is not complete. */
export const Cut = ({ name, most, total = 0 }: CutProps) =>
  total <= most ? null : (
    <p class="callout">
      {t('{name}: The first {most} of {total}', { name, most, total: count(total) })}
    </p>
  );

interface HeadProps {
  readonly title: ComponentChildren;
  readonly about?: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** ID of the place in the heading for actions of the page's list. */
const ACTIONS = 'page-actions';

/** Shows its children among the actions of the heading. */
export function HeadAction({ children }: { readonly children: ComponentChildren }) {
  const [place, setPlace] = useState<Element | null>(null);
  useEffect(() => setPlace(document.getElementById(ACTIONS)), []);
  return place === null ? null : createPortal(children, place);
}

/** Heading of a page with its main question and actions. */
export const Head = ({ title, about, children }: HeadProps) => (
  <header class="head">
    <div class="grow">
      <h1>{title}</h1>
      {about !== undefined && <p>{about}</p>}
    </div>
    <div class="actions">
      {children}
      <span id={ACTIONS} class="row" />
    </div>
  </header>
);

/** The page for an address or an ID that does not exist, or that the role does not permit. */
export const NotFound = () => (
  <>
    <Head
      title={t('404: Page not found')}
      about={t('This page or ID does not exist, or your role does not permit it.')}
    />
    <p>
      <a class="btn" href={href('')}>
        {t('Go to the start page')}
      </a>
    </p>
  </>
);

interface EmptyProps {
  readonly title: string;
  readonly children?: ComponentChildren;
}

/** State of a list without rows: what it is for, and the next action. */
export const Empty = ({ title, children }: EmptyProps) => (
  <div class="empty">
    <p class="strong">{title}</p>
    {children}
  </div>
);

export const Skeleton = ({ lines = 4 }: { readonly lines?: number }) => (
  <div class="card" aria-busy="true">
    <span class="sr">{t('Loading')}</span>
    {Array.from({ length: lines }, (_, at) => (
      <span key={at} class={`skeleton w${(at % 3) + 1}`} />
    ))}
  </div>
);

export interface TileData {
  readonly name: string;
  readonly value: ComponentChildren;
  readonly note?: ComponentChildren;
}

export const Tiles = ({ of }: { readonly of: readonly TileData[] }) => (
  <dl class="tiles">
    {of.map(({ name, value, note }) => (
      <div class="tile" key={name}>
        <dt>{name}</dt>
        <dd>{value === '' || value === undefined || value === null ? '—' : value}</dd>
        {note !== undefined && <dd class="note">{note}</dd>}
      </div>
    ))}
  </dl>
);

export type Fact = readonly [name: string, value: ComponentChildren];

/** Names and values. Rows without a value are left out. */
export const Facts = ({ of }: { readonly of: readonly Fact[] }) => (
  <dl class="facts">
    {of
      .filter(([, value]) => value !== '' && value !== undefined && value !== null)
      .map(([name, value]) => [
        <dt key={`${name} name`}>{name}</dt>,
        <dd key={`${name} value`}>{value}</dd>,
      ])}
  </dl>
);

interface CardProps {
  readonly title?: ComponentChildren;
  readonly unit?: string;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly flush?: boolean;
}

export const Card = ({ title, unit, actions, children, flush = false }: CardProps) => (
  <section class={`card ${flush ? 'flush' : ''}`}>
    {title !== undefined && (
      <header>
        <h2>
          {title} {unit !== undefined && <span class="muted small">{unit}</span>}
        </h2>
        {actions && <div class="row">{actions}</div>}
      </header>
    )}
    {children}
  </section>
);

/** A time in the selected time zone. */
export const At = ({ value }: { readonly value: unknown }) => {
  const told = dateTime(value);
  return told === '' ? null : <time dateTime={new Date(text(value)).toISOString()}>{told}</time>;
};

/** A relative time; the tooltip has the full time. */
export const Ago = ({ value }: { readonly value: unknown }) => {
  const told = dateTime(value);
  if (told === '') return null;
  return (
    <time dateTime={text(value)} title={told}>
      {ago(value)}
    </time>
  );
};

/** Callbacks of one shared timer, so that only elapsed times are drawn each second, not whole lists. */
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
    return () => void counting.delete(count);
  }, [value]);
  return <span ref={place} class="nowrap" />;
}

const mosTone = (value: number): Tone => (value >= 4 ? 'good' : value >= 3.4 ? 'fair' : 'bad');

/** Mean opinion score with a tone. */
export const Mos = ({ value }: { readonly value: unknown }) =>
  typeof value === 'number' ? <Badge tone={mosTone(value)}>{value.toFixed(2)}</Badge> : null;

/** Text with a button that copies it. */
export function CopyText({
  value,
  short,
}: {
  readonly value: string;
  readonly short?: string | undefined;
}) {
  const { isDone, copy } = useCopy(value);
  if (value === '') return null;
  return (
    <span class="copy">
      <code title={value}>{short ?? value}</code>
      <Tip label={isDone ? t('Copied') : t('Copy')}>
        <button
          type="button"
          class="btn quiet icon tiny"
          aria-label={t('Copy {value}', { value: short ?? value })}
          onClick={copy}
        >
          {isDone ? <Icon of={Check} size={13} /> : <Icon of={Copy} size={13} />}
        </button>
      </Tip>
    </span>
  );
}

/** Tooltip of a control. */
const Tip = ({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ComponentChildren;
}) => (
  <TooltipProvider timeout={400}>
    <TooltipAnchor render={<span />}>{children}</TooltipAnchor>
    <Tooltip class="tooltip" gutter={6}>
      {label}
    </Tooltip>
  </TooltipProvider>
);

export interface Portion {
  readonly name: string;
  readonly value: number;
  readonly tone: 'good' | 'fair' | 'bad' | 'info';
}

/** A bar of portions. The label lists them as text. */
export function Portions({
  of,
  total,
}: {
  readonly of: readonly Portion[];
  readonly total: number;
}) {
  const label = of.map(({ name, value }) => `${name} ${value}`).join(', ');
  return (
    <span class="bar" role="img" aria-label={label} title={label}>
      {of.map(({ name, value, tone }) => (
        <span
          key={name}
          class={tone}
          style={{ width: `${total === 0 ? 0 : (100 * value) / total}%` }}
        />
      ))}
    </span>
  );
}

interface TabsProps<Name extends string> {
  readonly tabs: readonly (readonly [name: Name, title: string])[];
  readonly chosen: string | undefined;
  readonly choose: (name: Name) => void;
}

/** Parts of a page, of which one is shown. */
export const Tabs = <Name extends string>({ tabs, chosen, choose }: TabsProps<Name>) => (
  <nav class="tabs" aria-label={t('Parts')}>
    {tabs.map(([name, title]) => (
      <button
        key={name}
        type="button"
        class="tab"
        aria-current={chosen === name ? 'page' : undefined}
        onClick={() => choose(name)}
      >
        {title}
      </button>
    ))}
  </nav>
);

/** A number or the user of a SIP address; the tooltip has the whole address. */
export const Party = ({ value }: { readonly value: unknown }) => (
  <span class="party" title={text(value)}>
    {party(value)}
  </span>
);

/** Link to a call, named by its two parties. */
export const CallLink = ({
  uuid,
  from,
  to,
}: {
  readonly uuid: unknown;
  readonly from: unknown;
  readonly to: unknown;
}) => (
  <a href={href(`calls/${text(uuid)}`)}>
    <span title={`${text(from)} → ${text(to)}`}>
      {party(from)} → {party(to)}
    </span>
  </a>
);

/** Link to the call of a record. */
export const RecordLink = ({ row }: { readonly row: Row }) => (
  <CallLink uuid={row['uuid']} from={row['caller_id_number']} to={row['destination_number']} />
);
