// The frame of every page of a tenant: header, navigation, content.

import { Drawer } from '@mantine/core'
import { Link, Outlet } from '@tanstack/react-router'
import { useState } from 'react'
import { mayDo, useSession } from '../api/session.tsx'
import { useMe } from '../api/use-me.ts'
import { useStale } from '../live/live-provider.tsx'
import { Palette } from '../palette/palette.tsx'
import { Icon } from '../parts/icon.tsx'
import { texts } from '../texts/en.ts'
import { AccountMenu } from './account-menu.tsx'
import { KeysDialog } from './keys-dialog.tsx'
import { LivePill } from './live-pill.tsx'
import { Navigation } from './navigation.tsx'
import { PAGES, PLATFORM_PAGES } from './pages.ts'
import styles from './shell.module.css'
import { TenantSwitcher } from './tenant-switcher.tsx'
import { useRunCommand } from './use-run-command.ts'
import { useShortcuts } from './use-shortcuts.ts'

const ALL_PAGES = [...PAGES, ...PLATFORM_PAGES]

export function Shell() {
  const [open, setOpen] = useState<'palette' | 'keys' | 'pages'>()
  const { me } = useSession()
  const stale = useStale()
  const runCommand = useRunCommand()
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
      <Palette
        opened={open === 'palette'}
        pages={mayDo(me, 'tenants:choose') ? ALL_PAGES : PAGES}
        onClose={close}
        onRun={runCommand}
      />
      {open === 'keys' ? <KeysDialog onClose={close} /> : null}
      <Drawer.Root opened={open === 'pages'} onClose={close} size={260} lockScroll={false}>
        <Drawer.Overlay />
        <Drawer.Content>
          {/* Mantine's own head is a header element, which would be a second banner of the page. */}
          <div className={styles.drawerHead}>
            <Drawer.Title>{texts.shell.navigation}</Drawer.Title>
            <Drawer.CloseButton aria-label={texts.shell.closeNavigation} />
          </div>
          <Drawer.Body>
            <Navigation onChosen={close} />
          </Drawer.Body>
        </Drawer.Content>
      </Drawer.Root>
    </>
  )
}

function Header({ onOpen }: { onOpen(what: 'palette' | 'keys' | 'pages'): void }) {
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
      <TenantSwitcher />
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
        <AccountMenu onShowKeys={() => onOpen('keys')} />
      </div>
    </header>
  )
}

/** Warns an administrator who acts in a tenant that is not the token's own. */
function ActingBar() {
  const { me, tenant } = useSession()
  const own = useMe().data
  if (!mayDo(me, 'tenants:choose') || own === undefined || own.tenant.id === tenant) return null
  return (
    <p className={styles.acting} role="status">
      {texts.shell.acting(me.tenant.name, me.token.role)}
    </p>
  )
}
