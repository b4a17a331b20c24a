import { useEffect, useRef, type ReactNode } from 'react';
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { ApiError } from '../api/http';
import { useSession } from '../api/session';
import { capitalized } from '../format';
import { texts } from '../texts';
import { useAction } from './use-action';

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

/** The message about a field of the request, if the service rejected its value. */
type ErrorOf = (field: string) => string | null;

interface FormProps extends Omit<Props, 'isAlert' | 'children'> {
  /** Text of the button that submits. */
  action: string;
  isDanger?: boolean;
  /** A button in place of the one that closes the dialog. */
  back?: { label: string; onBack: () => void };
  /** Its errors are shown in the form: at the field that reads them with `errorOf`, or else below all fields. */
  onSubmit: () => unknown;
  /** For a step without fields: focuses the submit button, or the other one if `isDanger`. */
  isReview?: boolean;
  children: ReactNode | ((errorOf: ErrorOf) => ReactNode);
}

/** Returns whether an operator only views the account, and a note that says so. */
function useViewing() {
  const isViewing = useSession().viewedBy !== null;
  return { isViewing, note: isViewing && <p className="callout">{texts.viewing.only}</p> };
}

/** A form in a dialog, which shows errors and cannot be submitted twice at once. */
export function DialogForm({ action, isDanger, back, onSubmit, isReview, children, ...dialog }: FormProps) {
  const { error, isBusy, clear, run } = useAction(onSubmit);
  const { isViewing, note } = useViewing();
  const form = useRef<HTMLFormElement>(null);
  // The field may be out of sight.
  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus();
  }, [error]);
  const fieldErrors = error instanceof ApiError ? error.fields : [];
  let isAtField = false;
  const errorOf: ErrorOf = (name) => {
    const found = fieldErrors.find(({ field }) => field.split('.')[0] === name);
    if (found) isAtField = true;
    return found ? capitalized(found.message) : null;
  };
  const fields = typeof children === 'function' ? children(errorOf) : children;
  return (
    <Dialog {...dialog}>
      <form
        ref={form}
        key={String(isReview)}
        className="stack"
        // Errors at fields stay until the next attempt: there may be several.
        onChange={() => fieldErrors.length === 0 && clear()}
        onSubmit={(event) => {
          event.preventDefault();
          if (!isViewing) void run();
        }}
      >
        {note}
        {fields}
        {error && !isAtField && (
          <p className="field-error" role="alert">
            {error.message}
          </p>
        )}
        <div className="dialog-actions">
          <button
            type="button"
            className="button"
            autoFocus={isReview && isDanger}
            onClick={back?.onBack ?? dialog.onClose}
          >
            {back?.label ?? texts.cancel}
          </button>
          <button
            type="submit"
            className={`button ${isDanger ? 'danger' : 'main'}`}
            // Not disabled, which would take the focus out of the dialog, and with it the Escape key.
            aria-disabled={isBusy || isViewing}
            autoFocus={isReview && !isDanger}
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
  /** Shown below the text. */
  children?: ReactNode;
  /** Label of the button that confirms; null hides the button. */
  action: string | null;
  isOpen: boolean;
  onClose: () => void;
  onConfirm: () => Promise<unknown>;
}

/** Asks the user to confirm an action. If the action fails, the dialog stays open and shows the error. */
export function Confirm({ title, text, children, action, isOpen, onClose, onConfirm }: ConfirmProps) {
  const { error, isBusy, clear, run } = useAction(async () => {
    await onConfirm();
    onClose();
  });
  const { isViewing, note } = useViewing();
  const close = () => {
    clear();
    onClose();
  };
  return (
    <Dialog title={title} isOpen={isOpen} onClose={close} isAlert>
      {note}
      <p>{text}</p>
      {children}
      {error && (
        <p className="field-error" role="alert">
          {error.message}
        </p>
      )}
      <div className="dialog-actions">
        <button type="button" className="button" onClick={close}>
          {texts.keepIt}
        </button>
        {action !== null && (
          <button
            type="button"
            className="button danger"
            aria-disabled={isBusy || isViewing}
            onClick={() => !isViewing && void run()}
          >
            {action}
          </button>
        )}
      </div>
    </Dialog>
  );
}
