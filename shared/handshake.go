package shared

// The go-plugin handshake. The cookie only tells a person who starts the
// binary by hand that it is a plugin; it is no secret.
const (
	// PluginName is the name under which the plugin is dispensed.
	PluginName = "draft-sessions"
	// ProtocolVersion changes when host and plugin of different builds would misunderstand each other.
	ProtocolVersion = 1
	// MagicCookieKey and MagicCookieValue are the environment entry that go-plugin checks.
	MagicCookieKey   = "DRAFT_SESSIONS_PLUGIN"
	MagicCookieValue = "0196a3f0-draft-sessions"
)

// Environment entries with which a host configures the plugin process.
const (
	// EnvStore is the path of the draft file; required.
	EnvStore = "DRAFT_SESSIONS_STORE"
	// EnvLimitPerWorkspace overrides [DefaultDraftsPerWorkspace]; at least [MinDraftsPerWorkspace].
	EnvLimitPerWorkspace = "DRAFT_SESSIONS_LIMIT"
	// EnvLogLevel is an hclog level name, "info" when unset.
	EnvLogLevel = "DRAFT_SESSIONS_LOG_LEVEL"
)

// MaxMessageBytes is the largest gRPC message on either side: a Watch or List
// answer can hold many drafts of [MaxTextBytes]. The gRPC default of 4 MiB is too small.
const MaxMessageBytes = 320 << 20

// CodeTrailer is the gRPC trailer that carries the [Code] of a failed call.
const CodeTrailer = "draft-code"
