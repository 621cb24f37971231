// Pushes an image that serves a page: push-page.ts URL.

import { argv } from 'node:process'
import { makeBusyboxImage } from '@holdfast/testkit/images/busybox-image'
import { pushImage } from '@holdfast/testkit/images/registry-push'

const [url = ''] = argv.slice(2)
await pushImage(
  { url, headers: {} },
  'samples/hello',
  '1.0',
  makeBusyboxImage({ page: 'samples/hello:1.0\n' }),
)
