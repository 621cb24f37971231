import { expect, test } from 'vitest'
import { CODES, entryOf } from './catalogue.ts'
import { renderCodePage } from './doc-page.ts'

test('the reference page of a code shows its status, fields, texts and fix', () => {
  expect(renderCodePage('node_candidates_unresolvable')).toMatchInlineSnapshot(`
    "# \`node_candidates_unresolvable\`

    - HTTP status: 422
    - HTTP status when the node records cannot be read: 503
    - Field: \`nodeId\`

    ## Accepted form

    \`\`\`text
    the id of an enrolled node of this tenant, or no nodeId
    \`\`\`

    ## Why

    \`\`\`text
    No nodes of this tenant could be listed, so the named node cannot be verified.
    \`\`\`

    ## Cause and fix

    The manifest names a \`nodeId\`, and there are no nodes to compare it with. With 422 the tenant has no enrolled
    node; with 503 the node records cannot be read at the moment. If the tenant has nodes, but not this one, the code
    is \`node_not_a_placement_candidate\`.

    **What to do.** On 422 enroll a node (\`POST /api/v1/nodes/join-tokens\`) or leave \`nodeId\` out: the deployment is
    then stored and waits for a node. On 503 send the same request again after a short wait.
    "
  `)
  expect(renderCodePage('replicas_out_of_range')).toMatchInlineSnapshot(`
    "# \`replicas_out_of_range\`

    - HTTP status: 422
    - Field: \`replicas\`

    ## Accepted form

    \`\`\`text
    a whole number from 0 to <max>
    \`\`\`

    ## Why

    \`\`\`text
    One deployment may have at most <max> replicas on this platform.
    \`\`\`

    The response contains the value of \`<max>\`.

    ## Cause and fix

    \`replicas\` is above the maximum that this platform is configured for. A negative number is \`replicas_negative\`; a
    fraction or a text is \`field_type_invalid\`.

    **What to do.** Ask for fewer replicas, or spread the work over several deployments. The platform operator can
    raise the maximum.
    "
  `)
})

test.each(CODES)('the reference page of %s shows its statuses, field patterns and texts', (code) => {
  const page = renderCodePage(code)
  const { status, field, doc } = entryOf(code)
  expect(page).toMatch(new RegExp(`^# \`${code}\`\n\n- HTTP status: ${status}\n`))
  for (const pattern of field.split(' | ')) expect(page).toContain(`\`${pattern}\``)
  expect(page.endsWith(`${doc}\n`)).toBe(true)
  expect(page.split('\n').filter((line) => line.startsWith('```'))).toHaveLength(4)
})
