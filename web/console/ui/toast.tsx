/** Messages about results of actions. Errors stay until the user closes them. */
import { X } from 'lucide';
import { useEffect, useState } from 'preact/hooks';
import { t } from '../text.ts';
import { Icon } from './icon.tsx';

type Kind = 'good' | 'bad';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: Kind;
}

const MAX = 3;
const SHOWN_MS = 6000;
let toasts: readonly Toast[] = [];
let show: ((toasts: readonly Toast[]) => void) | undefined;
let lastId = 0;

const set = (next: readonly Toast[]): void => {
  toasts = next.slice(-MAX);
  show?.(toasts);
};
const close = (id: number): void => set(toasts.filter((one) => one.id !== id));

/** Shows a message. */
export function toast(text: string, kind: Kind = 'good'): void {
  lastId += 1;
  const id = lastId;
  set([...toasts, { id, text, kind }]);
  if (kind === 'good') setTimeout(() => close(id), SHOWN_MS);
}

export function Toasts() {
  const [shown, setShown] = useState(toasts);
  useEffect(() => {
    show = setShown;
    return () => {
      show = undefined;
    };
  }, []);
  return (
    <div class="toasts" aria-live="polite" role="status">
      {shown.map(({ id, text, kind }) => (
        <div key={id} class={`toast ${kind}`}>
          <p>{text}</p>
          <button
            type="button"
            class="btn quiet icon tiny"
            aria-label={t('Close message')}
            onClick={() => close(id)}
          >
            <Icon of={X} size={14} />
          </button>
        </div>
      ))}
    </div>
  );
}
