/** Support bundle of a call: everything that support needs, with masked secrets. */
import { useState } from 'preact/hooks';
import { get, messageOf, type Row } from '../api.ts';
import { t } from '../text.ts';
import { download, saveAs } from '../ui/form.tsx';
import { toast } from '../ui/toast.tsx';

interface Props {
  readonly account: string;
  readonly uuid: string;
  readonly isStaff: boolean;
  readonly cdr: Row | undefined;
}

/** The operator gets a ZIP file with pcap and log lines, customers get the data of their API as JSON. */
export function BundleButton({ account, uuid, isStaff, cdr }: Props) {
  const [isBusy, setBusy] = useState(false);
  const path = `/api/v1/Account/${account}/Call/${uuid}`;
  const save = async () => {
    if (isStaff) return download(`/admin/v1/calls/${uuid}/bundle`, `call-${uuid}.zip`);
    const [log, quality] = await Promise.all([
      get(`${path}/log`).catch(messageOf),
      get(`${path}/quality/samples`).catch(messageOf),
    ]);
    const data = JSON.stringify({ call_uuid: uuid, cdr, log, quality }, null, 2);
    saveAs(new Blob([data], { type: 'application/json' }), `call-${uuid}.json`);
  };
  const begin = () => {
    setBusy(true);
    save()
      .catch((error: unknown) => toast(messageOf(error), 'bad'))
      .finally(() => setBusy(false));
  };
  return (
    <button type="button" class="btn" aria-busy={isBusy} onClick={begin}>
      {t('Download support bundle')}
    </button>
  );
}
