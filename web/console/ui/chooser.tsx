/** Select with search, for long lists: accounts, time zones, numbers. */
import {
  Combobox,
  ComboboxItem,
  ComboboxList,
  ComboboxProvider,
  Select,
  SelectItem,
  SelectPopover,
  SelectProvider,
} from '@ariakit/react';
import { ChevronsUpDown } from 'lucide';
import { useState } from 'preact/hooks';
import { t } from '../text.ts';
import { Icon } from './icon.tsx';

interface Choice {
  readonly value: string;
  readonly label: string;
  readonly note?: string | undefined;
}

interface Props {
  readonly label: string;
  readonly value: string;
  readonly set: (value: string) => void;
  readonly choices: readonly Choice[];
  /** Called with the text of the search, which may lead to further choices. */
  readonly typing?: (typed: string) => void;
}

const SHOWN_MAX = 100;

export function Chooser({ label, value, set, choices, typing }: Props) {
  const [typed, setTyped] = useState('');
  const type = (next: string) => {
    setTyped(next);
    typing?.(next);
  };
  const wanted = typed.toLowerCase();
  const shown = choices
    .filter((one) => `${one.label} ${one.note ?? ''}`.toLowerCase().includes(wanted))
    .slice(0, SHOWN_MAX);
  const current = choices.find((one) => one.value === value);
  return (
    <ComboboxProvider resetValueOnHide setValue={type}>
      <SelectProvider value={value} setValue={(next) => set(String(next))}>
        <Select class="btn switcher" aria-label={`${label}: ${current?.label ?? value}`}>
          <span>{current?.label ?? value}</span>
          <Icon of={ChevronsUpDown} size={14} />
        </Select>
        <SelectPopover class="menu" gutter={4} sameWidth portal unmountOnHide>
          <Combobox
            class="input combo"
            autoSelect
            aria-label={t('Search')}
            placeholder={t('Search')}
          />
          <ComboboxList>
            {shown.map((one) => (
              <SelectItem
                key={one.value}
                value={one.value}
                class="option"
                render={<ComboboxItem />}
              >
                <span>{one.label}</span>
                {one.note !== undefined && <span class="muted">{one.note}</span>}
              </SelectItem>
            ))}
            {shown.length === 0 && <p class="option muted">{t('Nothing matches.')}</p>}
          </ComboboxList>
        </SelectPopover>
      </SelectProvider>
    </ComboboxProvider>
  );
}
