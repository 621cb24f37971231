// The frame of every page of a tenant: header, navigation, content.

import { Link, Outlet } from '@tanstack/react-router'
import { useState } from 'react'
import { mayDo, useSession } from '../api/session.tsx'
import { useMe } from '../api/use-me.ts'
import { useStale } from '../live/live-provider.tsx'
import { Icon } from '../parts/icon.tsx'
import { texts } from '../texts/en.ts'
import { AccountButton } from './account-button.tsx'
import { Later } from './later.tsx'
import { LivePill } from './live-pill.tsx'
import { Navigation } from './navigation.tsx'
import type { Overlay } from './overlays.tsx'
import styles from './shell.module.css'
import { useShortcuts } from './use-shortcuts.ts'

const loadOverlays = async () => (await import('./overlays.tsx')).Overlays
const loadAccountMenu = async () => (await import('./account-menu.tsx')).AccountMenu
const loadTenantMenu = async () => (await import('./tenant-menu.tsx')).TenantMenu

export function Shell() {
  const [open, setOpen] = useState<Overlay>()
  const stale = useStale()
  const close = (): void => setOpen(undefined)
  useShortcuts({ onPalette: () => setOpen('palette'), onHelp: () => setOpen('keys') })
  return (
    <>
      <a href="#content" className={styles.skip}>
        {texts.shell.skip}
      </a>
      <Header onOpen={setOpen} />
      <ActingBar />
      <div className={styles.body}>
        <div className={styles.side}>
          <Navigation />
        </div>
        <main
          id="content"
          tabIndex={-1}
          className={styles.content}
          {...(stale ? { 'data-stale': true } : {})}
        >
          <Outlet />
        </main>
      </div>
      <Later load={loadOverlays} props={{ open, onClose: close }} now={open !== undefined} />
    </>
  )
}

function Header({ onOpen }: { onOpen(what: Overlay): void }) {
  return (
    <header className={styles.header}>
      <button
        type="button"
        className={styles.menuButton}
        aria-label={texts.shell.openNavigation}
        onClick={() => onOpen('pages')}
      >
        <Icon name="menu" />
      </button>
      <Link to="/" className={styles.product}>
        {texts.product}
      </Link>
      <Tenant />
      <button
        type="button"
        className={styles.search}
        aria-keyshortcuts="Control+K"
        onClick={() => onOpen('palette')}
      >
        <Icon name="search" size={14} />
        <span className={styles.searchText}>{texts.shell.search}</span>
        <kbd className={styles.kbd}>Ctrl K</kbd>
      </button>
      <div className={styles.right}>
        <LivePill />
        <Later
          load={loadAccountMenu}
          props={{ onShowKeys: () => onOpen('keys') }}
          fallback={<AccountButton disabled />}
        />
      </div>
    </header>
  )
}

/** The tenant of the page. A platform administrator changes it here; for other roles it is a name. */
function Tenant() {
  const { me } = useSession()
  const name = <span className={styles.tenant}>{me.tenant.name}</span>
  if (!mayDo(me, 'tenants:choose')) return name
  return (
    <Later
      load={loadTenantMenu}
      props={{ current: me.tenant.name }}
      fallback={
        <span className={styles.tenantButton}>
          {name}
          <Icon name="chevron" size={14} />
        </span>
      }
    />
  )
}

/** Warns an administrator who acts in a tenant that is not the token's own. */
function ActingBar() {
  const { me } = useSession()
  return mayDo(me, 'tenants:choose') ? <Acting /> : null
}

function Acting() {
  const { me, tenant } = useSession()
  const own = useMe().data
  if (own === undefined || own.tenant.id === tenant) return null
  return (
    <p className={styles.acting} role="status">
      {texts.shell.acting(me.tenant.name, me.token.role)}
    </p>
  )
}
