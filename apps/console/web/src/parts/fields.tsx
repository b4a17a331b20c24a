import {
  useId,
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
} from 'react';
import { texts } from '../texts';

interface Around {
  label: string;
  hint?: ReactNode;
  error?: string | null;
  className?: string;
  required?: boolean | undefined;
}

/** Label, control, hint and error, linked for screen readers. Marks required fields. */
function Field({
  label,
  hint,
  error,
  className = '',
  required = false,
  children,
}: Around & { children: (ids: Ids) => ReactNode }) {
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || undefined;
  return (
    <div className={`field ${className}`}>
      <label htmlFor={id} data-note={required ? texts.required : undefined}>
        {label}
      </label>
      {children({ id, required, 'aria-describedby': described, 'aria-invalid': error ? true : undefined })}
      {hint && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p className="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}
interface Ids {
  id: string;
  required: boolean;
  'aria-describedby': string | undefined;
  'aria-invalid': boolean | undefined;
}

type InputProps = Around & Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange' | 'className'>;

export const TextField = ({
  label,
  hint,
  error,
  className,
  required,
  onValue,
  ...input
}: InputProps & { onValue: (value: string) => void }) => (
  <Field {...{ label, hint, error, className, required }}>
    {(ids) => (
      <input
        type="text"
        autoComplete="off"
        {...input}
        {...ids}
        onChange={({ target }) => onValue(target.value)}
      />
    )}
  </Field>
);

interface ReasonProps {
  hint: string;
  value: string;
  onValue: (value: string) => void;
}

/** A reason that the host stores: required, and not only spaces. */
export const ReasonField = (props: ReasonProps) => (
  <TextField label={texts.reason} required pattern=".*\S.*" maxLength={255} {...props} />
);

type AreaProps = Around & Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'onChange' | 'className'>;

export const TextArea = ({
  label,
  hint,
  error,
  className,
  required,
  onValue,
  ...area
}: AreaProps & { onValue: (value: string) => void }) => (
  <Field {...{ label, hint, error, className, required }}>
    {(ids) => <textarea rows={4} {...area} {...ids} onChange={({ target }) => onValue(target.value)} />}
  </Field>
);

interface Option {
  value: string;
  label: string;
}
const listed = (options: readonly Option[] | Readonly<Record<string, string>>): readonly Option[] =>
  Array.isArray(options)
    ? (options as readonly Option[])
    : Object.entries(options as Record<string, string>).map(([value, label]) => ({ value, label }));
type SelectProps = Around & Omit<SelectHTMLAttributes<HTMLSelectElement>, 'onChange' | 'className'>;

export const SelectField = ({
  label,
  hint,
  error,
  className,
  required,
  options,
  any,
  onValue,
  ...select
}: SelectProps & {
  /** As a list, or as labels by value. */
  options: readonly Option[] | Readonly<Record<string, string>>;
  /** Label of a first option that stands for no choice, with an empty value. */
  any?: string;
  onValue: (value: string) => void;
}) => (
  <Field {...{ label, hint, error, className, required }}>
    {(ids) => (
      <select {...select} {...ids} onChange={({ target }) => onValue(target.value)}>
        {any !== undefined && <option value="">{any}</option>}
        {listed(options).map(({ value, label: text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    )}
  </Field>
);

export const FileField = ({
  label,
  hint,
  error,
  onFile,
  accept,
}: Around & { accept: string; onFile: (file: File | null) => void }) => (
  <Field {...{ label, hint, error }}>
    {(ids) => (
      <input
        {...ids}
        type="file"
        accept={accept}
        onChange={({ target }) => onFile(target.files?.[0] ?? null)}
      />
    )}
  </Field>
);

/** Fields of one topic. */
export const FieldGroup = ({ legend, children }: { legend: string; children: ReactNode }) => (
  <fieldset className="wide field-group">
    <legend>{legend}</legend>
    <div className="form">{children}</div>
  </fieldset>
);

export const CheckField = ({
  label,
  checked,
  onValue,
}: {
  label: ReactNode;
  checked: boolean;
  onValue: (value: boolean) => void;
}) => (
  <label className="check">
    <input type="checkbox" checked={checked} onChange={({ target }) => onValue(target.checked)} />
    {label}
  </label>
);
