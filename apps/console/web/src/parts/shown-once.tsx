import type { ReactNode } from 'react';
import { texts } from '../texts';
import { CopyButton } from './copy-button';

interface Props {
  text: string;
  secret: string;
  copy: string;
  close?: string;
  onClose: () => void;
  /** Shown beside the buttons. */
  children?: ReactNode;
}

/** Shows a secret in a dialog, the only time that it is visible. */
export const ShownOnce = ({ text, secret, copy, close = texts.close, onClose, children }: Props) => (
  <>
    <p>{text}</p>
    <p className="secret" data-secret>
      {secret}
    </p>
    <div className="dialog-actions">
      {children}
      <button type="button" className="button" onClick={onClose}>
        {close}
      </button>
      <CopyButton text={secret} label={copy} isMain />
    </div>
  </>
);
