import { useState } from 'react';
import { Link, Navigate, NavLink, Route, Routes, useNavigate, useParams } from 'react-router';
import { CATEGORIES, COLLECTIONS, PERKS, useAll } from '../api/managed';
import { formatList, formatNumber } from '../format';
import { lazy } from '../parts/lazy';
import { PerkPicture } from '../parts/perk-picture';
import type { EditorProps } from '../parts/resource-editor';
import { ResourceList } from '../parts/resource-list';
import { Screen } from '../parts/screen';
import { texts } from '../texts';
import NotFound from './not-found';

const t = texts.catalogue;
const Import = lazy(() => import('./catalogue-import'));
const PerkEditor = lazy(() => import('./perk-editor'));
const CategoryEditor = lazy(() => import('./category-editor'));
const CollectionEditor = lazy(() => import('./collection-editor'));

export default function Catalogue() {
  return (
    <Routes>
      <Route index element={<Perks />} />
      <Route path="categories" element={<Categories />} />
      <Route path="collections" element={<Collections />} />
      <Route
        path="import"
        element={
          <Frame>
            <Import />
          </Frame>
        }
      />
      <Route path="perks" element={<Navigate to="/catalogue" replace />} />
      <Route path="perks/:id" element={<Edit editor={PerkEditor} back="/catalogue" create={t.newPerk} />} />
      <Route
        path="categories/:id"
        element={<Edit editor={CategoryEditor} back="/catalogue/categories" create={t.newCategory} />}
      />
      <Route
        path="collections/:id"
        element={<Edit editor={CollectionEditor} back="/catalogue/collections" create={t.newCollection} />}
      />
      <Route path="*" element={<NotFound />} />
    </Routes>
  );
}

function Edit({
  editor: Editor,
  back,
  create,
}: {
  editor: (props: EditorProps) => React.ReactNode;
  back: string;
  create: string;
}) {
  const { id: named = '' } = useParams();
  const navigate = useNavigate();
  const id = named === 'new' ? null : named;
  const [name, setName] = useState<string | null>(null);
  const folder = back === '/catalogue' ? '/catalogue/perks' : back;
  return (
    <Screen
      title={id === null ? create : (name ?? id)}
      intro={id !== null && name && <code>{id}</code>}
      back={{ to: back, label: texts.nav.catalogue }}
    >
      <Editor
        key={named}
        id={id}
        onNamed={setName}
        onSaved={(saved) => id === null && void navigate(`${folder}/${encodeURIComponent(saved)}`)}
        onDeleted={() => void navigate(back)}
      />
    </Screen>
  );
}

function Frame({ create, children }: { create?: { to: string; label: string }; children: React.ReactNode }) {
  return (
    <Screen
      title={texts.nav.catalogue}
      intro={t.intro}
      actions={
        create && (
          <Link className="button main" to={create.to}>
            {create.label}
          </Link>
        )
      }
    >
      <nav className="tab-list" aria-label={texts.nav.catalogue}>
        <NavLink to="/catalogue" end>
          {t.perks}
        </NavLink>
        <NavLink to="/catalogue/categories">{t.categories}</NavLink>
        <NavLink to="/catalogue/collections">{t.collections}</NavLink>
        <NavLink to="/catalogue/import">{t.import}</NavLink>
      </nav>
      {children}
    </Screen>
  );
}

const Perks = () => {
  const categories = useAll(CATEGORIES).data;
  const categoryOf = (id: number) => categories?.find((one) => one.id === id)?.name ?? String(id);
  return (
    <Frame create={{ to: '/catalogue/perks/new', label: t.newPerk }}>
      <ResourceList
        kind={PERKS}
        caption={t.perks}
        columns={[
          {
            name: t.title,
            isHead: true,
            cell: ({ id, title, media }) => (
              <span className="with-picture">
                <PerkPicture src={media.logo ?? media.banner} name={title} />
                <span>
                  <Link to={`/catalogue/perks/${encodeURIComponent(id)}`}>{title}</Link>
                  <br />
                  <code className="hint">{id}</code>
                </span>
              </span>
            ),
          },
          { name: t.partner, cell: ({ partner }) => partner.name },
          {
            name: t.categories,
            cell: ({ categories: ids }) => categories && formatList(ids.map(categoryOf)),
          },
          {
            name: t.codes,
            cell: ({ is_coupon_perk, coupon }) =>
              is_coupon_perk ? t.singleUse : coupon ? <code>{coupon}</code> : texts.none,
          },
        ]}
      />
    </Frame>
  );
};

const Categories = () => (
  <Frame create={{ to: '/catalogue/categories/new', label: t.newCategory }}>
    <ResourceList
      kind={CATEGORIES}
      caption={t.categories}
      columns={[
        {
          name: t.name,
          isHead: true,
          cell: ({ id, name }) => <Link to={`/catalogue/categories/${id}`}>{name}</Link>,
        },
        { name: texts.editor.id, isNumber: true, cell: ({ id }) => id },
        { name: t.slug, cell: ({ slug }) => <code>{slug}</code> },
      ]}
    />
  </Frame>
);

const Collections = () => (
  <Frame create={{ to: '/catalogue/collections/new', label: t.newCollection }}>
    <ResourceList
      kind={COLLECTIONS}
      caption={t.collections}
      columns={[
        {
          name: texts.editor.id,
          isHead: true,
          cell: ({ id }) => <Link to={`/catalogue/collections/${encodeURIComponent(id)}`}>{id}</Link>,
        },
        { name: t.groups, isNumber: true, cell: ({ groups }) => formatNumber(groups.length) },
        {
          name: t.perks,
          isNumber: true,
          cell: ({ groups }) =>
            formatNumber(new Set(groups.flatMap(({ perks }) => perks.map(({ id }) => id))).size),
        },
      ]}
    />
  </Frame>
);
