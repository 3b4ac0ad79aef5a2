"""Names for the same role, and for the roles that one covers. Data only; all in lower case."""

from __future__ import annotations

from reviews.rules.titles import word_set

# Written one way or another, they are one. Applied to titles and to what people ask for alike, in this order.
SAME_WORDS: tuple[tuple[str, str], ...] = tuple(
    (written, same)
    for same, others in (
        ("sdet", "software development engineer in test; software engineer in test"),
        ("software engineer", "software development engineer; software engineering"),
        ("software developer", "software development"),
        ("web developer", "web development"),
        ("app developer", "app development"),
        ("game developer", "game development"),
        ("ml", "machine learning"),
        ("ai", "artificial intelligence"),
        ("nlp", "natural language processing"),
        ("cv", "computer vision"),
        ("sre", "site reliability engineer; site reliability"),
        ("qa", "quality assurance"),
        ("ux", "user experience"),
        ("ui", "user interface"),
        ("bi", "business intelligence"),
        ("hr", "human resources"),
        ("vp", "vice president"),
        ("fullstack", "full stack"),
        ("frontend", "front end"),
        ("backend", "back end"),
        ("devops", "dev ops"),
        ("cybersecurity", "cyber security"),
        ("data scientist", "data science"),
        ("data engineer", "data engineering"),
        ("analytics engineer", "data analytics engineer"),
        ("data analyst", "data analytics; data analysis"),
        ("product manager", "product management"),
        ("project manager", "project management"),
        ("program manager", "program management"),
        ("product designer", "product design"),
        ("graphic designer", "graphic design"),
        ("go", "golang"),
        ("js", "javascript"),
        ("ts", "typescript"),
        ("react", "reactjs; react js"),
        ("node", "nodejs; node js"),
        ("vue", "vuejs; vue js"),
        ("angular", "angularjs; angular js"),
        (".net", "dotnet; dot net"),
        (".net core", "net core"),
        (".net framework", "net framework"),
        (".net engineer", "net engineer"),
        (".net developer", "net developer"),
        ("devsecops", "dev sec ops; devsec ops; dev secops"),
        ("k8s", "kubernetes"),
        ("software engineer", "swe; sde"),
        ("ml engineer", "mle"),
        (
            "software developer",
            "softwareentwickler; softwareentwicklerin; softwareentwicklung; software entwickler",
        ),
        ("software engineer", "softwareingenieur"),
        ("web developer", "webentwickler"),
        ("frontend developer", "frontendentwickler"),
        ("backend developer", "backendentwickler"),
        ("software engineer", "ingénieur logiciel; ingénieure logiciel"),
        ("software developer", "desarrollador de software"),
        (
            "software engineer",
            "ingeniero de software; ingeniera de software; engenheiro de software; ingegnere del software",
        ),
        ("data scientist", "scientifique des données; científico de datos; cientista de dados"),
        ("data analyst", "analista de datos"),
        ("data engineer", "ingeniero de datos"),
    )
    for written in others.split("; ")
)
# One word each: abbreviations, and the word for a developer in other languages.
SAME_WORD = {
    word: same
    for same, words in {
        "engineer": "eng engr engineering ingenieur ingénieur ingeniero ingegnere engenheiro",
        "developer": """dev entwickler entwicklerin développeur développeuse desarrollador desarrolladora
            sviluppatore ontwikkelaar desenvolvedor desenvolvedora utvecklare udvikler""",
        "manager": "mgr",
        "ops": "operation",
        "programmer": "programador programadora programista",
    }.items()
    for word in words.split()
}
# A role is also met by any of these. Every "engineer" here stands for "developer" and "programmer" as well.
_SOFTWARE = """
    software engineer; programmer; backend engineer; frontend engineer; fullstack engineer; full stack
    engineer; web engineer; mobile engineer; ios engineer; android engineer; application engineer;
    applications engineer; platform engineer; infrastructure engineer; devops engineer; cloud engineer;
    systems software engineer; embedded engineer; embedded software engineer; firmware engineer; game
    engineer; api engineer; data engineer; ml engineer; ai engineer; forward deployed engineer; founding
    engineer; product engineer; sre; sdet; compiler engineer; graphics engineer; blockchain engineer;
    java engineer; python engineer; php engineer; ruby engineer; rails engineer; go engineer; rust
    engineer; scala engineer; kotlin engineer; swift engineer; js engineer; ts engineer; react engineer;
    angular engineer; vue engineer; node engineer; django engineer; .net engineer; c engineer; c++
    engineer; c# engineer; salesforce developer
"""
COVERS: dict[str, tuple[str, ...]] = {
    role: tuple(" ".join(name.split()) for name in names.split(";"))
    for role, names in {
        "software engineer": _SOFTWARE,
        "software developer": _SOFTWARE,
        "programmer": _SOFTWARE,
        "software": _SOFTWARE,
        "developer": "developer; software engineer; programmer",
        "ml engineer": """ml engineer; ai engineer; deep learning engineer; ml scientist; applied ml; nlp
            engineer; cv engineer; ml ops engineer; mlops engineer; llm engineer; ml researcher""",
        "ml": "ml; deep learning; nlp",
        "ai engineer": "ai engineer; ml engineer; llm engineer; genai engineer",
        "data scientist": "data scientist; applied scientist; ml scientist",
        "data analyst": "data analyst; bi analyst; analytics analyst; product analyst",
        "frontend engineer": """frontend engineer; web engineer; ui engineer; react engineer;
            angular engineer; vue engineer; js engineer""",
        "fullstack engineer": "fullstack engineer; full stack engineer",
        "mobile engineer": """mobile engineer; ios engineer; android engineer; flutter engineer; react native
            engineer""",
        "devops engineer": "devops engineer; sre; platform engineer; infrastructure engineer; cloud engineer",
        "sre": "sre; devops engineer; production engineer",
        "security engineer": """security engineer; cybersecurity engineer; appsec engineer;
            application security
            engineer; infosec engineer""",
        "qa engineer": """qa engineer; test engineer; sdet; quality engineer; test automation engineer; qa
            analyst; qa tester; software tester""",
        "ux designer": "ux designer; ui ux designer; ux ui designer; product designer; interaction designer",
        "product designer": "product designer; ux designer; ui ux designer; ux ui designer",
        "recruiter": "recruiter; talent acquisition; sourcer",
        "hr": "hr; people operations; people partner; people generalist",
        "customer success manager": "customer success manager; csm; client success manager",
        "account executive": "account executive; sales executive; sales representative",
        "sales development representative": """sales development representative; sdr; bdr;
            business development representative""",
        "nurse": "nurse; rn; lpn",
    }.items()
}
ENGINEER_WORDS = ("engineer", "developer", "programmer")

# What such developers develop is no software.
NO_SOFTWARE = word_set(
    """
    business land property estate real curriculum content training learning people community market
    sales product leadership organizational partnership workforce course instructional
    """
)

# Names that are everyday words too: they count only in the company of technical words.
EVERYDAY_NAMES = frozenset(
    {"go", "r", "c", "d", "swift", "dart", "julia", "rust", "spark", "excel", "access", "word"}
)
LANGUAGES = EVERYDAY_NAMES - {"spark", "excel", "access", "word"}
TECH_WORDS = word_set(
    """
    python java kotlin scala rust go golang ruby php perl c cpp swift js javascript ts typescript react
    c++ c# embedded firmware assembly verilog rtos reactjs nodejs
    angular vue node django flask rails spring net .net dotnet sql nosql postgres postgresql mysql mongodb
    redis kafka spark hadoop airflow docker kubernetes k8s terraform aws gcp azure linux git grpc
    graphql rest api apis pandas numpy pytorch tensorflow matlab sas stata tableau powerbi julia haskell
    elixir erlang clojure dart flutter bash html css excel word powerpoint developer developers engineer
    engineers engineering programmer programmers programming language languages service services
    microservices code codebase backend back fullstack stack experience runtime routines compiler
    modules software scripts libraries library framework frameworks
    """
)

# Words for a part of a business. In what qualifies another role they name its team, not the work: an engineer
# of the pricing platform does not do pricing.
BUSINESS_WORDS = word_set(
    """
    account accounts accounting acquisition admin advertising analytics billing brand business care
    claims client clients commerce commercial communications compliance consumer content contracts
    corporate credit customer customers delivery distribution ecommerce education energy enterprise
    events facilities finance financial fraud fulfillment gaming government growth health healthcare hr
    hospitality insurance investments learning legal lending logistics manufacturing maps market
    marketing marketplace media merchandising mobility operations ops partner partnerships payments
    payroll people pricing procurement property public recruiting recruitment retail revenue risk sales
    science search security shipping social sourcing sports strategy success supply support talent tax
    trading transport travel treasury trust warehouse wealth
    """
)
