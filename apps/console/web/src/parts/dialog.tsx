import { useState, type ReactNode } from 'react';
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { texts } from '../texts';

interface Props {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  /** If set, the dialog closes only by its buttons. */
  isHeld?: boolean;
  isAlert?: boolean;
  children: ReactNode;
}

export const Dialog = ({ title, isOpen, onClose, isHeld, isAlert, children }: Props) => (
  <ModalOverlay
    className="overlay"
    isOpen={isOpen}
    isDismissable={!isHeld}
    isKeyboardDismissDisabled={isHeld}
    onOpenChange={(open) => {
      if (!open) onClose();
    }}
  >
    <Modal className="modal">
      <AriaDialog className="dialog" role={isAlert ? 'alertdialog' : 'dialog'}>
        <Heading slot="title" level={2}>
          {title}
        </Heading>
        {children}
      </AriaDialog>
    </Modal>
  </ModalOverlay>
);

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
        <button type="button" className="button danger" disabled={isBusy} onClick={() => void confirm()}>
          {action}
        </button>
      </div>
    </Dialog>
  );
}
