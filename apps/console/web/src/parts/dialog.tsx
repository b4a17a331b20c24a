import { useState, type FormEvent, type ReactNode } from 'react';
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { texts } from '../texts';

interface Props {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  /** If set, the dialog closes only by its buttons. */
  isHeld?: boolean;
  isAlert?: boolean;
  size?: 'wide' | 'drawer';
  children: ReactNode;
}

export const Dialog = ({ title, isOpen, onClose, isHeld, isAlert, size, children }: Props) => (
  <ModalOverlay
    className="overlay"
    isOpen={isOpen}
    isDismissable={!isHeld}
    isKeyboardDismissDisabled={isHeld}
    onOpenChange={(open) => {
      if (!open) onClose();
    }}
  >
    <Modal className={size ? `modal modal-${size}` : 'modal'}>
      <AriaDialog className="dialog" role={isAlert ? 'alertdialog' : 'dialog'}>
        <Heading slot="title" level={2}>
          {title}
        </Heading>
        {children}
      </AriaDialog>
    </Modal>
  </ModalOverlay>
);

interface FormProps extends Omit<Props, 'isAlert'> {
  /** Text of the button that submits. */
  action: string;
  isDanger?: boolean;
  /** Text of the button, and what it does, in place of the one that closes the dialog. */
  back?: { label: string; onBack: () => void };
  /** What it throws is shown in the form. */
  onSubmit: () => unknown;
  /** For a step in which there is nothing to fill in: focuses the button. */
  isReview?: boolean;
}

/** A form in a dialog, which shows errors and cannot be submitted twice at once. */
export function DialogForm({ action, isDanger, back, onSubmit, isReview, children, ...dialog }: FormProps) {
  const [error, setError] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setError(null);
    try {
      await onSubmit();
    } catch (refusal) {
      setError((refusal as Error).message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog {...dialog}>
      <form key={String(isReview)} className="stack" onSubmit={(event) => void submit(event)}>
        {children}
        {error && (
          <p className="field-error" role="alert">
            {error}
          </p>
        )}
        <div className="dialog-actions">
          <button type="button" className="button" onClick={back?.onBack ?? dialog.onClose}>
            {back?.label ?? texts.cancel}
          </button>
          <button
            type="submit"
            className={`button ${isDanger ? 'danger' : 'main'}`}
            // Not disabled, which would take the focus out of the dialog, and with it the Escape key.
            aria-disabled={isBusy}
            autoFocus={isReview}
          >
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface ConfirmProps {
  title: string;
  text: ReactNode;
  action: string;
  isOpen: boolean;
  onClose: () => void;
  onConfirm: () => Promise<unknown>;
}

/** Asks before an irreversible action; an error stays visible. */
export function Confirm({ title, text, action, isOpen, onClose, onConfirm }: ConfirmProps) {
  const [error, setError] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const close = () => {
    setError(null);
    onClose();
  };
  const confirm = async () => {
    if (isBusy) return;
    setBusy(true);
    try {
      await onConfirm();
      close();
    } catch (refusal) {
      setError((refusal as Error).message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} isOpen={isOpen} onClose={close} isAlert>
      <p>{text}</p>
      {error && (
        <p className="field-error" role="alert">
          {error}
        </p>
      )}
      <div className="dialog-actions">
        <button type="button" className="button" onClick={close}>
          {texts.keepIt}
        </button>
        <button type="button" className="button danger" aria-disabled={isBusy} onClick={() => void confirm()}>
          {action}
        </button>
      </div>
    </Dialog>
  );
}
