/** Drawers, confirmations and menus over Ariakit's accessible widgets. */
import {
  Dialog,
  DialogDismiss,
  DialogHeading,
  Menu,
  MenuButton,
  MenuItem,
  MenuProvider,
} from '@ariakit/react';
import { Ellipsis, X } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { messageOf } from '../api.ts';
import { may, type Need } from '../may.ts';
import { t } from '../text.ts';
import { Input, onSubmit } from './form.tsx';
import { Icon } from './icon.tsx';
import { Problem } from './parts.tsx';
import { toast } from './toast.tsx';

interface DrawerProps {
  readonly title: ComponentChildren;
  readonly isOpen: boolean;
  readonly close: () => void;
  readonly children: ComponentChildren;
  readonly isWide?: boolean;
}

/** Panel at the right edge for details and forms. Esc closes it and returns the focus. */
export const Drawer = ({ title, isOpen, close, children, isWide = false }: DrawerProps) => (
  <Dialog
    open={isOpen}
    onClose={close}
    backdrop={<div class="backdrop" />}
    class={`drawer ${isWide ? 'wide' : ''}`}
    unmountOnHide
  >
    <header>
      <DialogHeading>{title}</DialogHeading>
      <DialogDismiss class="btn quiet icon" aria-label={t('Close')}>
        <Icon of={X} size={16} />
      </DialogDismiss>
    </header>
    {children}
  </Dialog>
);

interface FormDrawerProps extends DrawerProps {
  readonly submit: string;
  readonly act: () => void;
  readonly problem: string | undefined;
  readonly isBusy?: boolean;
}

/** Drawer with a form. */
export const FormDrawer = (props: FormDrawerProps) => (
  <Drawer
    title={props.title}
    isOpen={props.isOpen}
    close={props.close}
    isWide={props.isWide ?? false}
  >
    <form onSubmit={onSubmit(props.act)}>
      <div class="body">
        <Problem text={props.problem} />
        {props.children}
      </div>
      <footer>
        <button type="button" class="btn" onClick={props.close}>
          {t('Cancel')}
        </button>
        <button type="submit" class="btn primary" aria-busy={props.isBusy ?? false}>
          {props.submit}
        </button>
      </footer>
    </form>
  </Drawer>
);

export interface Question {
  readonly title: string;
  readonly detail?: ComponentChildren;
  /** Label of the button that confirms. */
  readonly action: string;
  readonly isDanger?: boolean;
  /** Text that the user must type. */
  readonly typed?: string;
}

let ask: ((question: Question, answer: (isYes: boolean) => void) => void) | undefined;

/** Asks for confirmation. Resolves with the answer. */
export const confirmed = (question: Question): Promise<boolean> =>
  new Promise((answer) => (ask === undefined ? answer(false) : ask(question, answer)));

/** The dialog of `confirmed`. Exactly one is on the page. */
export function Confirmation() {
  const [open, setOpen] = useState<{
    readonly question: Question;
    readonly answer: (isYes: boolean) => void;
  }>();
  const [typed, setTyped] = useState('');
  useEffect(() => {
    ask = (question, answer) => {
      setTyped('');
      setOpen({ question, answer });
    };
    return () => {
      ask = undefined;
    };
  }, []);
  const done = (isYes: boolean) => {
    open?.answer(isYes);
    setOpen(undefined);
  };
  const question = open?.question;
  const isReady = question?.typed === undefined || typed === question.typed;
  return (
    <Dialog
      open={open !== undefined}
      onClose={() => done(false)}
      backdrop={<div class="backdrop" />}
      class="dialog"
      role="alertdialog"
      unmountOnHide
    >
      <header>
        <DialogHeading>{question?.title}</DialogHeading>
      </header>
      <div class="body">
        {question?.detail !== undefined && <div>{question.detail}</div>}
        {question?.typed !== undefined && (
          <Input
            label={t('Type {text} to confirm', { text: question.typed })}
            value={typed}
            set={setTyped}
          />
        )}
      </div>
      <footer>
        <button type="button" class="btn" onClick={() => done(false)}>
          {t('Cancel')}
        </button>
        <button
          type="button"
          class={`btn ${question?.isDanger === false ? 'primary' : 'danger'}`}
          disabled={!isReady}
          onClick={() => done(true)}
        >
          {question?.action}
        </button>
      </footer>
    </Dialog>
  );
}

/** Runs an action. Shows an error that the action does not show itself. */
const run = async (act: () => unknown): Promise<void> => {
  try {
    await act();
  } catch (error) {
    toast(messageOf(error), 'bad');
  }
};

export interface Action {
  readonly label: string;
  readonly act: () => unknown;
  readonly isDanger?: boolean;
  readonly need?: Need;
  /** Whether the action applies. Default: true. */
  readonly isShown?: boolean;
}

/** Menu of the actions of a row or page. Without permitted actions there is no button. */
export function Actions({ of, name }: { readonly of: readonly Action[]; readonly name: string }) {
  const shown = of.filter(
    ({ need, isShown = true }) => isShown && (need === undefined || may(need)),
  );
  if (shown.length === 0) return null;
  return (
    <MenuProvider placement="bottom-end">
      <MenuButton class="btn quiet icon" aria-label={t('Actions for {name}', { name })}>
        <Icon of={Ellipsis} size={16} />
      </MenuButton>
      <Menu class="menu" gutter={4} portal unmountOnHide>
        {shown.map(({ label, act, isDanger }) => (
          <MenuItem
            key={label}
            class={`option ${isDanger ? 'danger' : ''}`}
            onClick={() => void run(act)}
          >
            {label}
          </MenuItem>
        ))}
      </Menu>
    </MenuProvider>
  );
}
