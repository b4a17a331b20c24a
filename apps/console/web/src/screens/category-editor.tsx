import { SHAPES } from '@perkway/catalogue/shapes';
import { bodyOf, CATEGORIES, PERKS, useAll } from '../api/managed';
import type { Category, PutCategory } from '../api/types';
import { TextField } from '../parts/fields';
import { ResourceEditor, type EditorProps } from '../parts/resource-editor';
import { OwnTranslations } from '../parts/translations';
import { UsedIn } from '../parts/used-in';
import { followedSlug } from '../slug';
import { texts } from '../texts';

const t = texts.catalogue;

const BLANK: PutCategory = { name: '', slug: '', translations: {} };

export default function CategoryEditor({ id, onSaved, onDeleted, onNamed }: EditorProps) {
  const categories = useAll(CATEGORIES);
  return (
    <ResourceEditor<Category, PutCategory, PutCategory>
      kind={CATEGORIES}
      id={id}
      idHint={t.categoryId}
      makeId={() => String(Math.max(0, ...(categories.data ?? []).map((one) => Number(one.id))) + 1)}
      blank={BLANK}
      toDraft={(stored) => ({ ...BLANK, ...bodyOf<PutCategory>(stored) })}
      toBody={(category) => category}
      shape={SHAPES.categories}
      onSaved={onSaved}
      onDeleted={onDeleted}
      nameOf={(stored) => stored.name}
      onNamed={onNamed}
      usedIn={(stored) => (
        <UsedIn kinds={[PERKS]} query={{ category_id: stored.id }} note={t.categoryInUse} />
      )}
      blockedBy={(stored) => ({ kind: PERKS, query: { category_id: stored.id } })}
      fields={({ name, slug, translations }, change, errorOf) => (
        <>
          <TextField
            label={t.name}
            required
            error={errorOf('name')}
            value={name}
            onValue={(changed) =>
              change({
                name: changed,
                // The slug of a stored category survives a rename.
                slug: id === null ? followedSlug(slug, name, changed) : slug,
              })
            }
          />
          <TextField
            label={t.slug}
            required
            hint={t.madeFromName}
            error={errorOf('slug')}
            value={slug}
            onValue={(changed) => change({ slug: changed })}
          />
          <OwnTranslations
            translations={translations}
            error={errorOf('translations')}
            onTranslations={(changed) => change({ translations: changed })}
            texts={[{ name: 'name', label: t.name, original: name }]}
          />
        </>
      )}
    />
  );
}
