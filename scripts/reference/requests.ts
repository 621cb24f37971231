// docs/reference/requests.md: the fields of the request bodies other than manifests.

import { describeBodies, flattenFields } from '@holdfast/core/admission'
import { section } from './manifest.ts'
import { code, page } from './page.ts'

export function renderRequests(): string {
  return page('Request bodies', [
    'The fields of the requests that users send besides [manifests](manifest.md). `holdfast explain BODY.FIELD` prints the same text for one field, for example `holdfast explain token.role`. Each body is one JSON object; an unknown field is rejected with `field_unknown`.',
    ...describeBodies().flatMap(({ name, about, request, fields }) => [
      `## ${name}`,
      `${about} ${code(request)}`,
      ...flattenFields(fields).flatMap((field) => section(field, '###')),
    ]),
  ])
}
