import { useState } from 'preact/hooks';
import { t } from '../text.ts';
import { Input } from '../ui/form.tsx';
import { type Action, FormDrawer } from '../ui/overlay.tsx';
import type { Send } from './room.tsx';

interface Asked {
  readonly kind: 'Play' | 'Speak';
  /** Path of the member. */
  readonly to: string;
}

/** Returns the actions that play to one member, and speak if the API offers it, and the form that they open. */
export function useMemberAudio(send: Send, { speaks }: { readonly speaks: boolean }) {
  const [asked, setAsked] = useState<Asked>();
  const [value, setValue] = useState('');
  const ask = (kind: Asked['kind'], to: string) => () => {
    setValue('');
    setAsked({ kind, to });
  };
  const actions = (to: string): readonly Action[] => [
    { label: t('Play audio'), act: ask('Play', to) },
    {
      label: t('Stop playback'),
      act: () => send('DELETE', `${to}Play/`, t('The playback has stopped.')),
    },
    { label: t('Speak text'), act: ask('Speak', to), isShown: speaks },
    {
      label: t('Stop speaking'),
      act: () => send('DELETE', `${to}Speak/`, t('The speech has stopped.')),
      isShown: speaks,
    },
  ];
  const isUrl = asked?.kind === 'Play';
  const begin = async () => {
    if (asked === undefined) return;
    const done = isUrl ? t('The member hears the audio.') : t('The member hears the text.');
    setAsked(undefined);
    await send('POST', `${asked.to}${asked.kind}/`, done, isUrl ? { url: value } : { text: value });
  };
  const form = (
    <FormDrawer
      title={isUrl ? t('Play audio') : t('Speak text')}
      isOpen={asked !== undefined}
      close={() => setAsked(undefined)}
      submit={isUrl ? t('Play audio') : t('Speak text')}
      problem={undefined}
      act={() => void begin()}
    >
      <Input
        label={isUrl ? t('URL of the audio file') : t('Text')}
        type={isUrl ? 'url' : 'text'}
        hint={t('Only this member hears it.')}
        value={value}
        set={setValue}
        required
      />
    </FormDrawer>
  );
  return { actions, form };
}
