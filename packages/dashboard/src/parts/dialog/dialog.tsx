// A dialog with a title. Escape and the cross close it.

import { Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import { dialogTexts } from '../../texts/en/dialog.ts'
import styles from './dialog.module.css'

interface Props {
  readonly title: string
  readonly children: ReactNode
  onClose(): void
}

export function Dialog({ title, children, onClose }: Props) {
  return (
    <Modal.Root opened onClose={onClose} size={560} lockScroll={false}>
      <Modal.Overlay />
      <Modal.Content>
        {/* Mantine's own head is a header element, which would be a second banner of the page. */}
        <div className={styles.head}>
          <Modal.Title className={styles.title}>{title}</Modal.Title>
          <Modal.CloseButton aria-label={dialogTexts.close} />
        </div>
        <Modal.Body className={styles.content}>{children}</Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}
