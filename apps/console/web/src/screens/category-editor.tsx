import { useAll } from '../api/resources';
import type { Category, PutCategory } from '../api/types';
import { TextArea, TextField } from '../parts/fields';
import { ResourceEditor } from '../parts/resource-editor';
import { fromYaml, toYaml } from '../parts/yaml-text';
import { texts } from '../texts';
import { CATALOGUE, type EditorProps } from './catalogue';

const t = texts.catalogue;

export default function CategoryEditor({ id, onSaved, onDeleted }: EditorProps) {
  const categories = useAll<Category>(`${CATALOGUE}/categories`);
  return (
    <ResourceEditor<Category, { name: string; slug: string; translations: string }, PutCategory>
      path={`${CATALOGUE}/categories`}
      id={id}
      idHint={t.categoryId}
      makeId={() => String(Math.max(0, ...(categories.data ?? []).map((one) => Number(one.id))) + 1)}
      blank={{ name: '', slug: '', translations: '' }}
      toDraft={({ name, slug, translations }) => ({ name, slug, translations: toYaml(translations) })}
      toBody={({ name, slug, translations }) => ({
        name,
        slug,
        translations: fromYaml(t.translations, translations, {}),
      })}
      canDelete
      onSaved={onSaved}
      onDeleted={onDeleted}
      fields={(draft, change) => (
        <>
          <TextField label={t.name} required value={draft.name} onValue={(name) => change({ name })} />
          <TextField label={t.slug} required value={draft.slug} onValue={(slug) => change({ slug })} />
          <TextArea
            label={t.translations}
            className="wide"
            hint={t.translationsHint}
            value={draft.translations}
            onValue={(translations) => change({ translations })}
          />
        </>
      )}
    />
  );
}
