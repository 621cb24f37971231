// The overlays of all pages: the palette, the list of shortcuts, and the navigation of narrow screens.

import { Drawer } from '@mantine/core'
import { mayDo, useSession } from '../api/session.tsx'
import { Palette } from '../palette/palette.tsx'
import { texts } from '../texts/en.ts'
import { KeysDialog } from './keys-dialog.tsx'
import { Navigation } from './navigation.tsx'
import { CREATIONS, PAGES, PLATFORM_PAGES } from './pages.ts'
import styles from './shell.module.css'
import { useRunCommand } from './use-run-command.ts'

export type Overlay = 'palette' | 'keys' | 'pages'

const ALL_PAGES = [...PAGES, ...PLATFORM_PAGES]

interface Props {
  readonly open: Overlay | undefined
  onClose(): void
}

export function Overlays({ open, onClose }: Props) {
  const { me } = useSession()
  const runCommand = useRunCommand()
  return (
    <>
      <Palette
        opened={open === 'palette'}
        offered={{
          pages: mayDo(me, 'tenants:choose') ? ALL_PAGES : PAGES,
          creations: CREATIONS.filter(({ needs }) => mayDo(me, needs)),
          changes: mayDo(me, 'deployments:write'),
        }}
        onClose={onClose}
        onRun={runCommand}
      />
      {open === 'keys' ? <KeysDialog onClose={onClose} /> : null}
      <Drawer.Root opened={open === 'pages'} onClose={onClose} size={260} lockScroll={false}>
        <Drawer.Overlay />
        <Drawer.Content>
          {/* Mantine's own head is a header element, which would be a second banner of the page. */}
          <div className={styles.drawerHead}>
            <Drawer.Title>{texts.shell.navigation}</Drawer.Title>
            <Drawer.CloseButton aria-label={texts.shell.closeNavigation} />
          </div>
          <Drawer.Body>
            <Navigation onChosen={onClose} />
          </Drawer.Body>
        </Drawer.Content>
      </Drawer.Root>
    </>
  )
}
