import type { IconNode } from 'lucide';
import { h } from 'preact';

/** An icon of the Lucide set. Text beside it names the action, so that it is hidden from screen readers. */
export const Icon = ({ of, size = 16 }: { readonly of: IconNode; readonly size?: number }) => (
  <svg
    width={size}
    height={size}
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    stroke-width={2}
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
  >
    {of.map(([tag, attributes], at) => h(tag, { key: at, ...attributes }))}
  </svg>
);
