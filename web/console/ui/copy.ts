import { useState } from 'preact/hooks';

const SHOWN_MS = 1500;

/** Copies a text. Browsers have no `clipboard` on pages without TLS, except on the same machine. */
async function write(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const put = (event: ClipboardEvent) => {
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
  };
  addEventListener('copy', put);
  document.execCommand('copy');
  removeEventListener('copy', put);
}

/** Function that copies a text, and whether it has just done so. */
export function useCopy(text: string) {
  const [isDone, setDone] = useState(false);
  const copy = () =>
    void write(text).then(() => {
      setDone(true);
      setTimeout(() => setDone(false), SHOWN_MS);
    });
  return { isDone, copy };
}
