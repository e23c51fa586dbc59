"""Formats of secrets that are recognised without a name before them: tokens, keys and URLs.

Each entry is a marker and a pattern. The pattern is compiled and searched only in a text that
contains the marker. If it has a group, the text of group 1 is kept. All patterns run in linear
time: each repeat is bounded or possessive.
"""

from __future__ import annotations

# Prefixes that also begin ordinary names: 16 letters or digits in a row must follow.
_PREFIXES_OF_NAMES = (
    *("hf_", "api_org_", "npm_", "gsk_", "xai-", "glsa_", "glc_", "rnd_", "sqp_", "squ_", "sqa_"),
    *("sgp_", "slk_", "pnu_", "pnb_", "bkua_", "bkat_", "nfp_", "nfc_", "nfo_", "nfu_", "nfb_"),
    *("vcp_", "vci_", "vca_", "vcr_", "vck_", "cfut_", "cfat_", "cfk_", "phx_", "phs_", "tfp_"),
    *("rdme_", "sbp_", "e2b_", "rpa_", "csk-", "llx-", "tgp_v1_", "ico-", "zpka_", "essu_", "oy2"),
    *("napi_", "lip_", "sm_pat_", "sm_aat_", "sm_sat_", "jina_", "rubygems_", "fio-u-", "pcsk_"),
    *("dc_",),  # our own tokens, see access/token_format.py
)
# Prefixes that begin nothing else.
_DISTINCT_PREFIXES = (
    *("whsec_", "github_pat_", "GOCSPX-", "xapp-", "dckr_pat_", "dckr_oat_", "dop_v1_", "doo_v1_"),
    *("dor_v1_", "lin_api_", "lin_oauth_", "lin_wh_", "sb_secret_", "nvapi-", "pplx-", "figd_"),
    *("figu_", "figo_", "tskey-", "sntrys_", "sntryu_", "sntrya_", "sntryi_", "pscale_pw_", "fo1_"),
    *(
        "pscale_tkn_",
        "pscale_oauth_",
        "fm1a_",
        "fm1r_",
        "fm2_",
        "HRKU-",
        "AGE-SECRET-KEY-",
        "NRAK-",
    ),
    *(
        "NRJS-",
        "NRII-",
        "NRRA-",
        "NRIQ-",
        "NRAA-",
        "PMAK-",
        "PMAT-",
        "CCIPAT_",
        "CCIPRJ_",
        "hcaik_",
    ),
    *("CLOJARS_", "CFPAT-", "sq0atp-", "sq0csp-", "xkeysib-", "xsmtpsib-", "snyk_uat", "snyk_sat"),
    *("shippo_live_", "shippo_test_", "duffel_live_", "duffel_test_", "FLWSECK", "wandb_v1_"),
    *("lsv2_pt_", "lsv2_sk_", "tvly-", "bb_live_", "AVNS_", "nyk_v0_", "ops_eyJ", "GR1348941"),
    *("vercel_blob_rw_", "bedrock-api-key-", "access_token$", "xwfp-", "sha256~", "waka_"),
)
_UUID = r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
_ALONE = r"(?<![A-Za-z0-9_])"  # for a short prefix, which is also part of words

TOKEN_FORMATS: tuple[tuple[str, str], ...] = (
    *((prefix, prefix + r"[A-Za-z0-9]{16,}+[\w+/=-]*+") for prefix in _PREFIXES_OF_NAMES),
    *(
        (prefix, prefix.replace("$", r"\$") + r"(?:[\w+/=~$-]|\.(?=\w)){6,}+")
        for prefix in _DISTINCT_PREFIXES
    ),
    ("sk-", r"sk-(?:proj|ant|live|test|svcacct|admin|or|lf)-(?:[\w*•…-]|\.{2,3}(?=\w))++"),
    ("sk-", r"sk-[A-Za-z0-9*]{20,}+[\w*-]*+"),
    ("sk-", r"sk-(?<![\w-]sk-)(?=[A-Za-z_.-]{0,60}+[\d*…])(?:[\w*•…-]|\.{2,3}(?=\w)){6,}+"),
    ("sk_", _ALONE + r"sk_[0-9a-f]{32,}+"),
    ("k_", r"[rsp]k_(?:live|test|prod)_\w++"),
    ("pk_", r"pk_\d{1,12}_[A-Z0-9]{20,}+"),
    ("gh", r"gh[pousr]_\w{6,}+"),
    ("gl", r"gl(?:pat|ptt|dt|rt|soat|cbt|ft|ffct|imt|agent|oas|wt)-[\w.-]{8,}+"),
    ("AIza", r"AIza[\w-]{10,}+"),
    ("AQ.", r"AQ\.[\w-]{30,}+"),
    ("ya29.", r"ya29\.[\w.-]{6,}+"),
    ("1//0", r"1//0[\w-]{30,}+"),
    ("IA", r"A(?:KIA|SIA|BIA)[A-Z0-9]{12,}+"),
    ("ACCA", r"ACCA[A-Z2-7]{16,}+"),
    ("ABSK", r"ABSK[A-Za-z0-9+/=]{40,}+"),
    ("LTAI", r"LTAI[A-Za-z0-9]{16,}+"),
    ("xox", r"xox[a-z](?:\.xox[a-z])?-[\w-]++"),
    ("pypi-", r"pypi-Ag[\w-]{16,}+"),
    ("shp", r"shp(?:at|ca|pa|ss|ua|tka)_\w{8,}+"),
    ("SG.", r"SG\.[\w-]{16,}+(?:\.[\w-]*+)?"),
    ("hv", r"hv[sbr]\.[\w-]{16,}+"),
    ("s.", _ALONE + r"s\.(?=[A-Za-z]{0,23}\d)[A-Za-z0-9]{24}(?![A-Za-z0-9_.])"),
    ("eyJ", r"eyJ[\w-]{8,}+[+/=\w-]*+(?:\.[\w-]*+){0,4}"),
    ("ZXlK", r"ZXlK[A-Za-z0-9+/=]{20,}+"),
    ("LS0tLS1CRUdJTi", r"LS0tLS1CRUdJTi(?!BDRVJU)[A-Za-z0-9+/=]{20,}+"),  # PEM in base64
    ("AT", r"AT(?:ATT3|CTT3|STT3|BB)[\w=+/-]{16,}+"),
    ("ATTA", r"ATTA[0-9a-f]{40,}+"),
    ("secret_", _ALONE + r"secret_[A-Za-z0-9]{32,}+"),
    ("ntn_", r"ntn_[0-9]{6,}+[A-Za-z0-9]*+"),
    ("dapi", r"dapi[0-9a-f]{24,}+(?:-\d)?"),
    ("dp.", _ALONE + r"dp\.(?:pt|st|ct|sa|scim|audit|said)\.(?:[\w-]{1,40}\.)?[\w-]{16,}+"),
    ("pat", _ALONE + r"pat[A-Za-z0-9]{14}\.[0-9a-f]{40,}+"),
    ("at.", _ALONE + r"[ps]at\.[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}"),
    ("pat-", _ALONE + rf"pat-[a-z]{{2}}\d-{_UUID}"),
    (".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{20,}+"),
    ("pul-", _ALONE + r"pul-[0-9a-f]{30,}+"),
    ("r8_", _ALONE + r"r8_[A-Za-z0-9]{20,}+"),
    ("re_", _ALONE + r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{16,}+"),
    ("cio", _ALONE + r"cio[A-Za-z0-9]{32}(?![A-Za-z0-9_])"),
    ("key-", _ALONE + r"key-[0-9a-f]{32}"),
    ("-", r"(?<![0-9a-f-])[0-9a-f]{32}-(?:us\d{1,2}|[0-9a-f]{8}-[0-9a-f]{8})(?![\w-])"),
    ("SK", _ALONE + r"SK[0-9a-f]{32}(?![0-9a-f])"),
    ("AKCp", r"AKCp[A-Za-z0-9]{40,}+"),
    ("cmVmd", _ALONE + r"cmVmd[A-Za-z0-9]{40,}+"),
    ("dG9rO", _ALONE + r"dG9rO[A-Za-z0-9+/=]{40,}+"),
    ("EAA", _ALONE + r"EAA[A-Za-z0-9_-]{50,}+"),
    ("sl.", _ALONE + r"sl\.(?:[a-z]{1,2}\.)?[\w-]{60,}+"),
    ("dt0", _ALONE + r"dt0[a-z]\d{2}\.[A-Z0-9]{24}\.[A-Z0-9]{40,}+"),
    ("EZ", _ALONE + r"EZ[AT]K[A-Za-z0-9]{40,}+"),
    ("v1.0-", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{40,}+"),
    ("API-", _ALONE + r"API-[A-Z0-9]{26}(?![A-Z0-9])"),
    ("A3-", _ALONE + r"A3-[A-Z0-9]{6}-[A-Z0-9]{6,11}(?:-[A-Z0-9]{5}){3,4}"),
    ("4b1d", _ALONE + r"4b1d[A-Za-z0-9]{38}(?![A-Za-z0-9])"),
    ("_mmk", _ALONE + r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
    ("NRAL", r"(?<![0-9a-f])[0-9a-f]{32,36}(?:FFFF)?NRAL"),
    ("Q~", r"(?<![\w~.])[\w~.]{3}\dQ~[\w~.-]{31,34}"),
    ("AZDO", r"(?<![A-Za-z0-9])[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}"),
    ("JQQJ99", r"(?<![A-Za-z0-9])[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{26}"),
    ("00", r"(?<![\w-])00(?=[\w-]{0,39}[A-Z])(?=[\w-]{0,39}[a-z])[\w-]{40}(?![\w-])"),
    ("SSWS", r"(SSWS[ \t]{1,8})[\w-]{16,}+"),
    ("FlyV1", r"(FlyV1[ \t]{1,8})[\w,+/=-]{16,}+"),
    ("/", r"(?<![\w/])[012]/\d{10,20}(?:/\d{10,20})?:[0-9a-f]{32}"),
    ("-", _ALONE + rf"(?:sdk|api|mob|access-(?:sandbox|development|production))-{_UUID}"),
    ("AAAAAAAAAA", _ALONE + r"A{20,40}[A-Za-z0-9%]{40,}+"),
    ("|", r"(?<!\d)(\d{15,16}\|)[\w-]{27,40}(?![\w-])"),
    (":AA", r"\d{5,12}:AA[\w-]{8,}+"),
    (".", r"[MNO][\w-]{22,27}\.[\w-]{5,7}\.[\w-]{24,}+"),
    ("/bot", r"(/bot\d{1,20}(?::|%3[aA]))[\w-]++"),
    ("hooks", r"(hooks\.slack\.com/(?:services|workflows|commands|actions|triggers)/)[\w/-]++"),
    ("hooks", r"(hooks\.zapier\.com/hooks/(?:catch|standard)/)[\w/-]++"),
    ("webhooks", r"(/api/(?:v\d{1,2}/)?webhooks/\d{1,20}/)[\w-]++"),
    ("/webhookb2/", r"(/webhookb2/)[\w@/-]++"),
    ("/with/key/", r"(/with/key/)[^\s\"'/?<>]++"),
    ("://", r"(://)(?:[^\s/@\"'<>]*+@)*[^\s/@\"'<>]*+(?=@)"),
    # A password may contain a slash; a port before a path with an @ is not a password.
    ("://", r"(://)[^\s/:@\"'<>]{1,200}+:(?!\d{1,5}/)(?:[^\s/@\"'<>]*+/){1,2}[^\s/@\"'<>]*+(?=@)"),
    ("jdbc:oracle:", r"(jdbc:oracle:\w{1,10}:[^\s/:@\"']{1,100}/)[^\s\"'@]++(?=@)"),
    ("@", r"((?<![\w./:-])[\w.-]{1,64}:)[^\s:@\"'/]{1,200}+(?=@(?:tcp|unix)\()"),
    (  # PuTTY
        "Private-",
        r"(Private-(?:Lines: \d{1,4}\s{1,2}|(?:MAC|Hash): ))[A-Za-z0-9+/=]{20,80}"
        r"(?:\s{1,2}[A-Za-z0-9+/=]{20,80})*+",
    ),
    (
        "-----BEGIN",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:"
        r"(?:[^-]|-(?!----)){0,12000}+-----END [A-Z0-9 ]{0,60}-----"
        # A truncated key: match as long as the lines look like key data.
        r"|(?:(?:\s|\\{1,8}[nrt])*+[A-Za-z0-9+/=]{17,}+)*+"
        r"(?:(?:\s|\\{1,8}[nrt]){1,8}+[A-Za-z0-9+/=]{1,64}+(?=[\"']|\s?(?:\[|\.\.|…)|\s{0,9}\Z))?)",
    ),
)  # fmt: skip
