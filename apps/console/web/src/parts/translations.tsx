import { canonicalLanguage } from '@perkway/domain/language';
import { useId, useState } from 'react';
import { texts } from '../texts';
import { TextArea, TextField } from './fields';
import { Tabs } from './tabs';

const t = texts.translations;

/** Texts by language and name, as resources have them. */
type Translations<Name extends string> = Record<string, Partial<Record<Name, string>>> | null | undefined;
export const nameOfLanguage = (tag: string): string => {
  try {
    return new Intl.DisplayNames('en', { type: 'language' }).of(tag) ?? tag;
  } catch {
    return tag;
  }
};
/** A text and its translations. */
export interface Translated {
  key: string;
  label: string;
  original: string;
  isLong?: boolean;
  valueIn: (language: string) => string;
  onValue: (language: string, text: string) => void;
}

interface Props {
  languages: string[];
  texts: Translated[];
  onAdd: (language: string) => void;
  onRemove: (language: string) => void;
  error?: string | null;
}

/** Shows each text beside its translation, one language at a time. */
export function TranslationsField({ languages, texts: rows, onAdd, onRemove, error }: Props) {
  const [chosen, setChosen] = useState('');
  const [added, setAdded] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const errorId = useId();
  const shown = languages.includes(chosen) ? chosen : languages[0];
  const add = () => {
    const tag = canonicalLanguage(added.trim());
    if (!tag) return setProblem(t.notTag);
    setProblem(null);
    setAdded('');
    setChosen(tag);
    if (!languages.includes(tag)) onAdd(tag);
  };
  const panel = (language: string) => () => (
    <div className="stack">
      {rows.map(({ key, label, original, isLong, valueIn, onValue }) => {
        const Field = isLong ? TextArea : TextField;
        return (
          <div key={key} className="side-by-side">
            <div className="field">
              <span className="legend-label">{label}</span>
              <p className="original lines">{original || texts.none}</p>
            </div>
            <Field
              label={t.textIn(label, nameOfLanguage(language))}
              lang={language}
              placeholder={t.asOriginal}
              value={valueIn(language)}
              onValue={(text: string) => onValue(language, text)}
            />
          </div>
        );
      })}
      <div className="actions">
        <button type="button" className="button danger small" onClick={() => onRemove(language)}>
          {t.remove(nameOfLanguage(language))}
        </button>
      </div>
    </div>
  );
  return (
    <fieldset className="wide field-group" aria-describedby={error ? errorId : undefined}>
      <legend>{t.title}</legend>
      <div className="stack">
        <p className="hint">{languages.length === 0 ? t.none : t.hint}</p>
        {error && (
          <p className="field-error" id={errorId}>
            {error}
          </p>
        )}
        {shown !== undefined && (
          <Tabs
            label={t.languages}
            selected={shown}
            onSelect={setChosen}
            tabs={languages.map((language) => ({
              id: language,
              label: t.language(nameOfLanguage(language), language),
              content: panel(language),
            }))}
          />
        )}
        <div className="actions add-language">
          <TextField
            label={t.add}
            hint={t.addHint}
            error={problem}
            maxLength={35}
            value={added}
            onValue={setAdded}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return;
              // Enter would save the whole resource.
              event.preventDefault();
              add();
            }}
          />
          <button type="button" className="button" onClick={add}>
            {t.addNow}
          </button>
        </div>
      </div>
    </fieldset>
  );
}

/** Puts a text into translations. An empty one is left out, so that the original shows. */
export function withText<Name extends string>(
  all: Translations<Name>,
  language: string,
  name: Name,
  text: string,
): Record<string, Partial<Record<Name, string>>> {
  const changed: Partial<Record<Name, string>> = { ...all?.[language] };
  if (text === '') delete changed[name];
  else changed[name] = text;
  return { ...all, [language]: changed };
}

export const withoutLanguage = <Name extends string>(all: Translations<Name>, language: string) =>
  Object.fromEntries(Object.entries(all ?? {}).filter(([tag]) => tag !== language));

interface OwnProps<Name extends string> {
  translations: Translations<Name>;
  texts: (Pick<Translated, 'label' | 'original' | 'isLong'> & { name: Name })[];
  error: string | null;
  onTranslations: (translations: NonNullable<Translations<Name>>) => void;
}

/** The translations of one resource. */
export const OwnTranslations = <Name extends string>({
  translations,
  texts: rows,
  error,
  onTranslations,
}: OwnProps<Name>) => (
  <TranslationsField
    languages={Object.keys(translations ?? {})}
    error={error}
    onAdd={(language) => onTranslations({ ...translations, [language]: {} })}
    onRemove={(language) => onTranslations(withoutLanguage(translations, language))}
    texts={rows.map(({ name, ...row }) => ({
      ...row,
      key: name,
      valueIn: (language) => translations?.[language]?.[name] ?? '',
      onValue: (language, text) => onTranslations(withText(translations, language, name, text)),
    }))}
  />
);
