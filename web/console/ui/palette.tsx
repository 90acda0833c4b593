/** Command palette (Ctrl K or ⌘ K): pages, accounts, and jumps to a call UUID or number. */
import { Combobox, ComboboxItem, ComboboxList, ComboboxProvider, Dialog } from '@ariakit/react';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Row } from '../api.ts';
import { text } from '../api.ts';
import { go, href } from '../place.ts';
import { t } from '../text.ts';

export interface Command {
  readonly group: string;
  readonly label: string;
  readonly note?: string;
  readonly to: string;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const NUMBER = /^\+?[\d\s().-]{4,}$/;
const SHOWN_MAX = 40;

/** Commands that the typed text itself makes possible. */
function jumps(typed: string): readonly Command[] {
  const group = t('Go to');
  if (UUID.test(typed)) {
    return [{ group, label: t('Call {id}', { id: typed }), to: href(`calls/${typed}`) }];
  }
  if (typed === '') return [];
  const search = NUMBER.test(typed) ? typed.replaceAll(/[^\d]/g, '') : typed;
  return [
    { group, label: t('Search calls for “{typed}”', { typed }), to: href('calls', { search }) },
  ];
}

const fits = (command: Command, typed: string): boolean =>
  `${command.label} ${command.note ?? ''}`.toLowerCase().includes(typed.toLowerCase());

interface Props {
  readonly pages: readonly Command[];
  readonly accounts: readonly Row[];
  /** Called with the typed text, which may lead to further accounts. */
  readonly typing: (typed: string) => void;
  readonly isOpen: boolean;
  readonly setOpen: (isOpen: boolean) => void;
  readonly path: string;
}

/** Opens and closes the palette with Ctrl K or ⌘ K. */
function useShortcut(isOpen: boolean, setOpen: (isOpen: boolean) => void): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setOpen(!isOpen);
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, [isOpen, setOpen]);
}

/** Commands that fit the typed text, best first. */
function commandsOf({ pages, accounts, path }: Props, typed: string): readonly Command[] {
  const wanted = typed.trim();
  const isExact = UUID.test(wanted) || NUMBER.test(wanted);
  return [
    ...(isExact ? jumps(wanted) : []),
    ...pages.filter((one) => fits(one, wanted)),
    ...accounts
      .map((one) => ({
        group: t('Accounts'),
        label: text(one['name']),
        note: text(one['auth_id']),
        to: href(path, {}, text(one['auth_id'])),
      }))
      .filter((one) => fits(one, wanted)),
    ...(isExact ? [] : jumps(wanted)),
  ].slice(0, SHOWN_MAX);
}

export function Palette(props: Props) {
  const { isOpen, setOpen, typing } = props;
  const [typed, setTyped] = useState('');
  useShortcut(isOpen, setOpen);
  /** Whether the user selected a command with the arrow keys since the last change of the text. */
  const hasMoved = useRef(false);
  const type = (next: string) => {
    hasMoved.current = false;
    setTyped(next);
    typing(next);
  };
  useEffect(() => type(''), [isOpen]);
  const choose = (to: string) => {
    setOpen(false);
    go(to);
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.key.startsWith('Arrow')) hasMoved.current = true;
    if (event.key !== 'Enter') return;
    event.preventDefault();
    const input = event.currentTarget as HTMLInputElement;
    const list = input.closest('.palette');
    const active = list?.querySelector<HTMLElement>('[data-active-item]');
    // The list may not show the latest text yet.
    const [first] = commandsOf(props, input.value);
    if (hasMoved.current && active) active.click();
    else if (first !== undefined) choose(first.to);
  };
  return (
    <Dialog
      open={isOpen}
      onClose={() => setOpen(false)}
      backdrop={<div class="backdrop" />}
      class="dialog palette"
      aria-label={t('Command palette')}
      unmountOnHide
    >
      <ComboboxProvider open setValue={type} focusLoop>
        <Combobox
          autoSelect="always"
          onKeyDown={pressed}
          aria-label={t('Search pages, calls, numbers and accounts')}
          placeholder={t('Search pages, calls, numbers and accounts')}
        />
        <CommandList commands={commandsOf(props, typed)} choose={choose} />
      </ComboboxProvider>
    </Dialog>
  );
}

interface ListProps {
  readonly commands: readonly Command[];
  readonly choose: (to: string) => void;
}

/** Commands by their groups. */
function CommandList({ commands, choose }: ListProps) {
  const groups = [...new Set(commands.map(({ group }) => group))];
  return (
    <ComboboxList class="list" alwaysVisible>
      {commands.length === 0 && <p class="option muted">{t('Nothing matches.')}</p>}
      {groups.map((group) => (
        <div key={group}>
          <div class="group-label" aria-hidden="true">
            {group}
          </div>
          {commands
            .filter((one) => one.group === group)
            .map(({ label, note, to }) => (
              <ComboboxItem key={to + label} class="option" focusOnHover onClick={() => choose(to)}>
                <span>{label}</span>
                {note !== undefined && <span class="muted">{note}</span>}
              </ComboboxItem>
            ))}
        </div>
      ))}
    </ComboboxList>
  );
}
