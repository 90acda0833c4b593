import { useEffect, useState } from 'preact/hooks';
import { LOST } from '../api.ts';
import { RELOAD } from '../hooks.ts';
import { t } from '../text.ts';

const CHECK_MS = 3000;

/** Banner while the service does not answer. Pages load their data again after the first answer. */
export function Connection() {
  const [isLost, setLost] = useState(false);
  useEffect(() => {
    const lost = () => setLost(true);
    addEventListener(LOST, lost);
    addEventListener('offline', lost);
    return () => {
      removeEventListener(LOST, lost);
      removeEventListener('offline', lost);
    };
  }, []);
  useEffect(() => {
    if (!isLost) return undefined;
    const check = () =>
      fetch('/healthz', { cache: 'no-store' }).then(
        (reply) => {
          if (!reply.ok) return;
          setLost(false);
          dispatchEvent(new Event(RELOAD));
        },
        () => undefined,
      );
    const timer = setInterval(() => void check(), CHECK_MS);
    return () => clearInterval(timer);
  }, [isLost]);
  return isLost ? (
    <div class="banner" role="alert">
      {t('The connection to the service is lost. The console reconnects automatically.')}
    </div>
  ) : null;
}
