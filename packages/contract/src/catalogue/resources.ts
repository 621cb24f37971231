// Error codes of records that do not exist or cannot be deleted yet. A record of another tenant is reported as missing.

import { type CatalogueSection, markdown } from './entry.ts'

export const resourceCodes = {
  tenant_not_found: {
    status: 404,
    field: 'tenant | X-Tenant-ID',
    expected: 'the UUID of the tenant of this token',
    why: 'This token has no access to a tenant with that id.',
    doc: markdown(
      'The `<tenant>` in the path is unknown or is not the tenant of the token. A header `X-Tenant-ID` with another',
      'tenant gives `permission_denied` instead.',
      '',
      '**What to do.** Use the UUID of your own tenant. A platform administrator lists all tenants with',
      '`GET /api/v1/tenants`.',
    ),
    capability: 'tenancy',
  },
  node_not_found: {
    status: 404,
    field: 'id | nodeName',
    expected: 'the id of a node of this tenant, or the name of one that it claims',
    why: 'This tenant has no node with that id or name.',
    doc: markdown(
      'The path names a node that is not enrolled in this tenant, or the release of a claim names a machine that this',
      'tenant does not claim. A `nodeId` in a body has codes of its own.',
      '',
      '**What to do.** `GET /api/v1/nodes` lists ids and names. Paths contain the `node_` id; only the release of a claim',
      'uses the name.',
    ),
    capability: 'nodes',
  },
  network_not_found: {
    status: 404,
    field: 'id',
    expected: 'the net_ id of a network of this tenant',
    why: 'This tenant has no network with that id.',
    doc: markdown(
      'The network was never created, was deleted, or belongs to another tenant.',
      '',
      '**What to do.** Take the id from `GET /api/v1/networks`.',
    ),
    capability: 'networks',
  },
  job_not_found: {
    status: 404,
    field: 'id',
    expected: 'the job_ id of a job of this tenant',
    why: 'This tenant has no job with that id.',
    doc: markdown(
      'The job was never created, was deleted, or belongs to another tenant.',
      '',
      '**What to do.** Take the id from `GET /api/v1/jobs`.',
    ),
    capability: 'jobs',
  },
  backup_not_found: {
    status: 404,
    field: 'id',
    expected: 'the bak_ id of a backup of this tenant',
    why: 'This tenant has no backup with that id.',
    doc: markdown(
      'The backup was never created, was deleted, or belongs to another tenant.',
      '',
      '**What to do.** Take the id from `GET /api/v1/backups`. Earlier versions of a deployment are also in',
      '`GET /api/v1/archives/deployments/<name>`, without a backup.',
    ),
    capability: 'backups',
  },
  archive_not_found: {
    status: 404,
    field: 'name | revision',
    expected: 'a deployment and a revision that are in the archive',
    why: 'The archive does not have that revision of the deployment.',
    doc: markdown(
      'No deployment of this name was ever stored, or the revision never existed or is older than the retained ones. A',
      'rollback to an unknown revision has this code too.',
      '',
      '**What to do.** `GET /api/v1/archives/deployments/<name>` lists the retained revisions.',
    ),
    capability: 'deployments',
  },
  secret_not_found: {
    status: 404,
    field: 'resource',
    expected: 'the namespace and label of a secret of this tenant',
    why: 'Nothing is stored at this path.',
    doc: markdown(
      'The path has no material: it was never written, was deleted, or was written in another namespace.',
      '',
      '**What to do.** `GET /api/v1/secrets` lists the paths that have material; `GET /api/v1/secrets/resources` lists',
      'those that deployments refer to, with or without material.',
    ),
    capability: 'secrets',
  },
  secret_in_use: {
    status: 409,
    field: 'resource | values | secrets[<i>].values',
    expected:
      'to delete: a secret that nothing refers to; to write: a secret whose oldest version in use would not be dropped by one more',
    why: 'The secret is still used by {consumers}, which could not start again without it.',
    doc: markdown(
      'Deleting a secret destroys all its versions. This is rejected while a deployment or job refers to it.',
      '',
      '**What to do.** Remove the entry from `secrets` of each consumer, then delete.',
      '`GET /api/v1/secrets/resources/<name>/consumers` lists them. To change the value, write a new version or rotate.',
      '',
      'A write, a deployment or a rotation that adds a version is rejected too, at its `values`, if a deployment still',
      'uses a version so old that the store would drop it. Restart or apply that deployment first: it then uses the',
      'newest version.',
    ),
    capability: 'secrets',
  },
  join_token_invalid: {
    status: 401,
    field: 'joinToken',
    expected: 'an unused join token that has not expired and was created for this node name',
    why: 'The join token is unknown, used, expired or was created for another node.',
    doc: markdown(
      'A join token works once, for a few minutes, and for one node name with the residency values it was created for.',
      'The response is the same in all cases.',
      '',
      '**What to do.** Create a new one with `POST /api/v1/nodes/join-tokens` for the exact name of the node, and run the',
      '`command` of the response on the machine at once. Check that its clock is right.',
    ),
    capability: 'nodes',
  },
} satisfies CatalogueSection
