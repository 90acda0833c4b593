import { useState } from 'preact/hooks';
import { callOnce, numbersOf, text } from '../api.ts';
import { useAction, useFields, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import { go, href } from '../place.ts';
import { t } from '../text.ts';
import { Input, TextArea } from '../ui/form.tsx';
import { FormDrawer } from '../ui/overlay.tsx';
import { Snippets } from '../ui/snippets.tsx';

const NEW = { from: '', to: '', answer_url: '' };

/** Form of outbound calls and the request that places them. */
function usePlaceCall(account: string, close: () => void) {
  const { fields, set } = useFields(NEW);
  const { problem, fields: problems, isBusy, run } = useAction();
  const path = `/api/v1/Account/${account}/Call/`;
  const destinations = fields.to.split(/\s*[\n,<]\s*/).filter((one) => one !== '');
  const body = { ...fields, to: destinations.join('<'), answer_method: 'POST' };
  const place = () =>
    run(async () => {
      const placed = await callOnce(path, body);
      close();
      const id = text(placed['request_uuid']);
      if (destinations.length > 1) go(href('calls', { state: 'live' }));
      else if (id !== '') go(href(`calls/${id}`));
    });
  return { fields, set, problem, problems, isBusy, place, request: { method: 'POST', path, body } };
}

/** Places outbound calls to one or more destinations. */
export function PlaceCall({ account }: { readonly account: string }) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  const { fields, set, problem, problems, isBusy, place, request } = usePlaceCall(account, close);
  const numbers = useLoad(`${account} ${isOpen}`, () =>
    isOpen ? numbersOf(account) : Promise.resolve([]),
  );
  if (!may('change')) return null;
  return (
    <>
      <button type="button" class="btn primary" onClick={() => setOpen(true)}>
        {t('Place call')}
      </button>
      <FormDrawer
        title={t('Place call')}
        isOpen={isOpen}
        close={close}
        submit={t('Place call')}
        act={() => void place()}
        problem={problem}
        isBusy={isBusy}
      >
        <Input
          label={t('From')}
          hint={t('A number of the account or a verified caller ID')}
          value={fields.from}
          set={set('from')}
          problem={problems['from']}
          list={(numbers.value ?? []).map((one) => text(one['e164']))}
          required
        />
        <TextArea
          label={t('To')}
          hint={t('Numbers in E.164 format or SIP addresses, one per line, at most 1,000')}
          value={fields.to}
          set={set('to')}
          problem={problems['to']}
          rows={2}
          required
        />
        <Input
          label={t('Answer URL')}
          hint={t('The service requests the document from this URL when the call is answered')}
          type="url"
          value={fields.answer_url}
          set={set('answer_url')}
          problem={problems['answer_url']}
          required
        />
        <Snippets request={request} />
      </FormDrawer>
    </>
  );
}
