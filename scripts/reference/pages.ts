// The list of reference pages. A new page is a module with a `render` function and a row here.

import { renderEvents } from './events.ts'
import { renderManifest } from './manifest.ts'
import type { ReferencePage } from './page.ts'

export const REFERENCE_PAGES: readonly ReferencePage[] = [
  { file: 'manifest.md', render: renderManifest },
  { file: 'events.md', render: renderEvents },
]
