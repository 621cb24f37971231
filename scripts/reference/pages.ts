// The list of generated reference pages. To add a page, write a module with a `render` function and add a row here.

import { renderConfiguration } from './configuration.ts'
import { renderEvents } from './events.ts'
import { renderManifest } from './manifest.ts'
import { renderMetrics } from './metrics.ts'
import type { ReferencePage } from './page.ts'
import { renderRequests } from './requests.ts'

export const REFERENCE_PAGES: readonly ReferencePage[] = [
  { file: 'manifest.md', render: renderManifest },
  { file: 'requests.md', render: renderRequests },
  { file: 'events.md', render: renderEvents },
  { file: 'configuration.md', render: renderConfiguration },
  { file: 'metrics.md', render: renderMetrics },
]
