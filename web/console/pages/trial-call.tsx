import { useEffect, useRef, useState } from 'preact/hooks';
import type { Phone } from '../../phone/phone-api.d.ts';
import { allOf, call, get, rows, text } from '../api.ts';
import { TRIAL, tokenFor } from '../browser-phone.ts';
import { useAction, useLoad } from '../hooks.ts';
import { href } from '../place.ts';
import { t } from '../text.ts';
import { Select } from '../ui/form.tsx';
import { Problem } from '../ui/parts.tsx';

interface Props {
  readonly account: string;
  readonly xml: string;
  readonly isFine: boolean;
  /** ID of the application that has this document; '' if none has it. */
  readonly application: string;
}

/** The call with its state. It ends when the page closes. */
function useTrial({ account, xml, application }: Props) {
  const [state, setState] = useState('');
  const [talks, setTalks] = useState(false);
  const [reason, setReason] = useState('');
  const { problem, run } = useAction();
  const audio = useRef<HTMLAudioElement>(null);
  const phone = useRef<Phone | undefined>(undefined);
  /** Incremented when the call ends or the page closes, so that an earlier attempt places no call. */
  const attempt = useRef(0);
  const end = () => {
    attempt.current += 1;
    void phone.current?.unregister();
    phone.current = undefined;
    setState('');
    setTalks(false);
  };
  useEffect(() => end, []);
  const place = async (username: string) => {
    const own = attempt.current;
    const uri = await targetOf(account, xml, application);
    const made = await phoneOf(account, username, audio.current, setState);
    if (own !== attempt.current) {
      await made.unregister();
      return;
    }
    phone.current = made;
    phone.current.on('active', () => setTalks(true));
    phone.current.on('ended', (ended) => {
      setReason(ended.reason);
      end();
    });
    await phone.current.call(uri);
  };
  const begin = (username: string) =>
    run(async () => {
      setState(t('Calling …'));
      setReason('');
      try {
        await place(username);
      } catch (error) {
        end();
        throw error;
      }
    });
  const hangUp = () => (talks ? void phone.current?.hangup() : end());
  return { state, talks, reason, problem, audio, phone, begin, hangUp };
}

/** Calls the document in the editor with the browser phone. */
export function TrialCall(props: Props) {
  const { account, isFine } = props;
  const { value } = useLoad(account, () => allOf(`/api/v1/Account/${account}/Endpoint/`));
  const names = (value ?? []).map((one) => text(one['username']));
  const [chosen, setChosen] = useState('');
  const { state, talks, reason, problem, audio, phone, begin, hangUp } = useTrial(props);
  const username = chosen || (names[0] ?? '');
  if (value !== undefined && names.length === 0) {
    return (
      <p>
        {t('To call the document, first create an endpoint.')}{' '}
        <a href={href('endpoints')}>{t('Create endpoint')}</a>
      </p>
    );
  }
  return (
    <section aria-label={t('Test call')}>
      {/* biome-ignore lint/a11y/useMediaCaption: the sound of a call has no captions */}
      <audio ref={audio} />
      <Problem text={problem} />
      <div class="filters">
        <Select
          label={t('Endpoint')}
          value={username}
          set={setChosen}
          options={names.map((name) => [name, name] as const)}
        />
        {state === '' ? (
          <button
            type="button"
            class="btn primary"
            disabled={!isFine}
            onClick={() => void begin(username)}
          >
            {t('Call document')}
          </button>
        ) : (
          <button type="button" class="btn danger" onClick={hangUp}>
            {t('Hang up')}
          </button>
        )}
        <span role="status">{state || reason}</span>
      </div>
      {talks && <Keypad press={(key) => phone.current?.sendDtmf(key)} />}
    </section>
  );
}

const Keypad = ({ press }: { readonly press: (key: string) => void }) => (
  <fieldset class="keypad">
    <legend class="sr">{t('Keypad')}</legend>
    {[...'123456789*0#'].map((key) => (
      <button key={key} type="button" class="btn" onClick={() => press(key)}>
        {key}
      </button>
    ))}
  </fieldset>
);

/** Returns the address that runs the document: of its application, or of the one for test calls. */
async function targetOf(account: string, xml: string, application: string): Promise<string> {
  const path = `/api/v1/Account/${account}/Application/`;
  const id = application || (await trialOf(path, xml));
  return text((await get(`${path}${id}/`))['sip_uri']);
}

/** Stores the document in the application for test calls, and returns its ID. */
async function trialOf(path: string, xml: string): Promise<string> {
  const found = await get(`${path}?app_name__contains=${TRIAL}`);
  const known = rows(found['objects']).find((one) => one['app_name'] === TRIAL);
  if (known === undefined)
    return text((await call('POST', path, { app_name: TRIAL, answer_xml: xml }))['app_id']);
  const id = text(known['app_id']);
  await call('POST', `${path}${id}/`, { answer_xml: xml });
  return id;
}

async function phoneOf(
  account: string,
  username: string,
  audio: HTMLAudioElement | null,
  tell: (state: string) => void,
): Promise<Phone> {
  if (audio === null) throw new Error('the page has no audio element');
  // Loaded on demand: most visits place no call.
  const place = '/phone.js';
  const module = (await import(place)) as { readonly Phone: typeof Phone };
  const made = new module.Phone({ audio });
  made.on('ringing', () => tell(t('Ringing …')));
  made.on('answered', () => tell(t('Connecting the audio …')));
  made.on('active', () => tell(t('In a call.')));
  await made.login({ token: await tokenFor(account, username, { incoming: false }) });
  return made;
}
