// Enum values of the API that help and completion list. A test compares them with the contract.

export const ROLE_WORDS = ['viewer', 'developer', 'secrets-admin', 'tenant-admin', 'platform-admin'] as const

export const QUOTA_WORDS = [
  'nodes',
  'deployments',
  'containers',
  'volumes',
  'volume_bytes',
  'networks',
  'jobs_running',
  'secrets',
  'backups',
  'tokens',
  'stored_bytes',
] as const

export const CHARSET_WORDS = ['alphanumeric', 'urlsafe', 'ascii'] as const
export const ENCODING_WORDS = ['hex', 'base64', 'base64url'] as const
export const ROTATION_WORDS = ['stage', 'overlap', 'cutover', 'retire', 'abort'] as const
export const VOLUME_CLASS_WORDS = ['ephemeral', 'replicated', 'object'] as const
export const NODE_LOSS_WORDS = ['wait', 'retry'] as const
