/** Preferences of the browser: color mode and time zone. */
import { useState } from 'preact/hooks';
import { setZone, zone, zones } from '../format.ts';
import { RELOAD } from '../hooks.ts';
import { t } from '../text.ts';
import { Chooser } from './chooser.tsx';

const KEPT = 'console.theme';

export function applyTheme(): void {
  const kept = localStorage.getItem(KEPT);
  if (kept === null) delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = kept;
}

export function ThemeChoice() {
  const [theme, setTheme] = useState(localStorage.getItem(KEPT) ?? '');
  const choose = (next: string) => {
    if (next === '') localStorage.removeItem(KEPT);
    else localStorage.setItem(KEPT, next);
    setTheme(next);
    applyTheme();
    // Charts read their colors once.
    dispatchEvent(new Event(RELOAD));
  };
  return (
    <select
      class="input"
      aria-label={t('Color mode')}
      value={theme}
      onChange={({ currentTarget }) => choose(currentTarget.value)}
    >
      <option value="">{t('System colors')}</option>
      <option value="light">{t('Light')}</option>
      <option value="dark">{t('Dark')}</option>
    </select>
  );
}

/** Event after which the whole page draws its times again. */
export const ZONE_CHANGED = 'zone-changed';

export function ZoneChoice() {
  return (
    <Chooser
      label={t('Time zone')}
      value={zone()}
      set={(next) => {
        setZone(next);
        dispatchEvent(new Event(ZONE_CHANGED));
      }}
      choices={zones().map((one) => ({ value: one, label: one }))}
    />
  );
}
