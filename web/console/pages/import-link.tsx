import { mayRead } from '../may.ts';
import { href } from '../place.ts';
import { t } from '../text.ts';

/** Link to the import of rates, numbers or accounts, for roles that may import. */
export const ImportLink = ({ kind }: { readonly kind: 'rates' | 'numbers' | 'accounts' }) =>
  mayRead('import') ? (
    <a class="btn" href={href('import', { kind })}>
      {t('Import CSV')}
    </a>
  ) : null;
