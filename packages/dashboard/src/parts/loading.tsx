// The place of data that is being read: gray lines, so that the page does not jump when the data arrives.

import { Skeleton } from '@mantine/core'
import styles from './loading.module.css'

export function Loading({ lines = 3 }: { readonly lines?: number }) {
  return (
    <div className={styles.loading} aria-busy="true" data-loading>
      {Array.from({ length: lines }, (_, at) => (
        // The lines are equal and never move.
        // biome-ignore lint/suspicious/noArrayIndexKey: the position is the identity
        <Skeleton key={at} height={18} radius="sm" />
      ))}
    </div>
  )
}
